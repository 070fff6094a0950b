import type { Database } from "../../src/platform/db/database.ts";

const AT_ONCE = 50_000;

/**
 * Fills the log of an instance as if it had been written over a year: some chats and some words far more often than
 * others, and a few failed sends and places among many texts.
 */
export async function seedLog(
  { pool }: Database,
  { instance, messages, chats }: { instance: number; messages: number; chats: number },
): Promise<void> {
  await pool.query(
    `with people as (
       insert into contact (account_id, instance_id, jid, phone, push_name)
       select account_id, id, '5521' || (10000000 + n) || '@s.whatsapp.net', '5521' || (10000000 + n), 'Person ' || n
       from instance, generate_series(1, $2) n where id = $1
       returning id, account_id, instance_id, jid, phone, push_name)
     insert into conversation (account_id, instance_id, jid, phone, title, type, contact_id)
     select account_id, instance_id, jid, phone, push_name, 'contact', id from people`,
    [instance, chats],
  );
  for (let from = 1; from <= messages; from += AT_ONCE) {
    const until = Math.min(messages, from + AT_ONCE - 1);
    await pool.query(INSERT, [instance, from, until, messages]);
  }
  await pool.query(
    `update conversation c set last_message_at =
       (select max(sent_at) from message m where m.conversation_id = c.id) where instance_id = $1`,
    [instance],
  );
}

const INSERT = `
  with chat as (
    select id, account_id, jid, row_number() over (order by id) - 1 as n, count(*) over () as all_chats
    from conversation where instance_id = $1
  ), line as (
    select n, (random() ^ 3 * (select count(*) from chat))::int as chat, random() < 0.5 as from_me, random() as luck,
      (select string_agg('w' || (random() ^ 3 * 20000)::int, ' ') from generate_series(1, 8) where n > 0) as text
    from generate_series($2::int, $3::int) n
  ), added as (
    insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
      content, status, outcome_at, read_at, sent_at)
    select c.account_id, $1, c.id, '3EB0' || l.n, case when from_me then 'outbound' else 'inbound' end, from_me,
      case when from_me then 'api' else 'contact' end, c.jid,
      case when luck < 0.0001 then 'location' when luck < 0.05 then 'image' else 'text' end,
      case when luck < 0.0001 then jsonb_build_object('kind', 'location', 'latitude', 1, 'longitude', 2, 'name', text)
        when luck < 0.05 then jsonb_build_object('kind', 'media', 'media_type', 'image', 'mime_type', 'image/png',
          'size', 1000, 'caption', text)
        else jsonb_build_object('kind', 'text', 'text', text) end,
      case when not from_me then 'received' when luck > 0.999 then 'failed' when luck > 0.3 then 'read' else 'delivered' end,
      now(), case when not from_me and luck > 0.1 then now() end,
      now() - ($4::int - l.n) * interval '1 year' / $4::int
    from line l join chat c on c.n = l.chat
    returning id, account_id, instance_id, sent_at, type, content
  )
  insert into message_search (account_id, instance_id, at, id, words)
  select account_id, instance_id, sent_at, id, array_to_tsvector(array(
    select distinct instance_id || ':' || word from unnest(
      string_to_array(coalesce(content ->> 'text', content ->> 'caption', content ->> 'name'), ' ')
      || case when type <> 'text' then array['#' || type] end) word where word is not null))
  from added`;
