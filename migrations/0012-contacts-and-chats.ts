import { type Kysely, sql } from "kysely";

/**
 * One contact per person with all addresses, chats with the state that phones show, and a search index of
 * messages.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await describeContacts(db);
  await describeConversations(db);
  await joinSplitPeople(db);
  await sql`create unique index contact_lid on contact (instance_id, lid) where lid is not null`.execute(db);
  await sql`create index contact_list on contact (instance_id, id)`.execute(db);
  await indexMessages(db);
  await createSearch(db);
}

async function describeContacts(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table contact add column name text, add column verified_name text, add column about text,
      add column picture_url text, add column is_business boolean, add column is_blocked boolean not null default false
    `.execute(db);
  await sql`
    create table number_check (
      instance_id bigint not null,
      account_id bigint not null,
      number text not null,
      jid text,
      lid text,
      verified_name text,
      checked_at timestamptz not null default now(),
      primary key (instance_id, number)
    )`.execute(db);
}

/**
 * A conversation that has become part of another stays as a sign to it; `merged_at` is set while messages may still
 * arrive there. Free space in the pages lets the time of the last message change without a new index entry.
 */
async function describeConversations(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table conversation add column contact_id bigint, add column merged_into bigint,
      add column merged_at timestamptz, add column last_message_at timestamptz,
      add column archived boolean not null default false, add column pinned boolean not null default false,
      add column muted_until timestamptz, add column marked_unread boolean not null default false`.execute(
    db,
  );
  await sql`alter table conversation set (fillfactor = 80)`.execute(db);
  await sql`
    update conversation c set
      last_message_at = (select max(sent_at) from message m where m.conversation_id = c.id),
      contact_id = (select p.id from contact p where p.instance_id = c.instance_id and p.jid = c.jid)`.execute(
    db,
  );
  await sql`create index conversation_merged on conversation (merged_at) where merged_at is not null`.execute(
    db,
  );
}

/** Until now a person could have a row by phone and another by LID. */
async function joinSplitPeople(db: Kysely<unknown>): Promise<void> {
  await sql`drop index contact_lid`.execute(db);
  await sql`update contact set lid = jid where jid like '%@lid'`.execute(db);
  await sql`
    update contact p set lid = null from contact newer
    where newer.instance_id = p.instance_id and newer.lid = p.lid and newer.jid not like '%@lid'
      and p.jid not like '%@lid' and (newer.updated_at, newer.id) > (p.updated_at, p.id)`.execute(db);
  await sql`
    create temporary table joined on commit drop as
    select l.id as old_contact, p.id as contact, l.instance_id, l.account_id, l.jid as lid, p.jid, p.phone
    from contact l join contact p on p.instance_id = l.instance_id and p.lid = l.jid and p.jid <> l.jid
    where l.jid like '%@lid'`.execute(db);
  await sql`
    insert into conversation (account_id, instance_id, jid, phone, type, contact_id)
    select account_id, instance_id, jid, phone, 'contact', contact from joined
    on conflict (instance_id, jid) do nothing`.execute(db);
  await sql`
    update conversation c set merged_into = k.id, merged_at = now(), contact_id = j.contact
    from joined j join conversation k on k.instance_id = j.instance_id and k.jid = j.jid
    where c.instance_id = j.instance_id and c.jid = j.lid`.execute(db);
  await sql`delete from contact where id in (select old_contact from joined)`.execute(db);
}

/** Lists sort by the message's own time, so that late messages appear in their place. */
async function indexMessages(db: Kysely<unknown>): Promise<void> {
  await sql`drop index message_conversation`.execute(db);
  await sql`drop index message_instance`.execute(db);
  await sql`
    create index message_conversation on message (conversation_id, sent_at desc, id desc)`.execute(db);
  await sql`create index message_instance on message (instance_id, sent_at desc, id desc)`.execute(db);
  await sql`
    create index message_uncommon on message (instance_id, sent_at desc, id desc)
    where status in ('failed', 'cancelled', 'played')`.execute(db);
  await sql`
    create index message_unread on message (conversation_id)
    where direction = 'inbound' and read_at is null`.execute(db);
}

/**
 * Separate from the message, whose row changes with every receipt, so that its text is indexed once. `at`
 * never changes: the acceptance time of own messages, the message time of others.
 */
async function createSearch(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table message_search (
      account_id bigint not null,
      instance_id bigint not null,
      at timestamptz not null,
      id bigint not null,
      words tsvector not null,
      primary key (instance_id, at, id)
    )`.execute(db);
  await sql`
    insert into message_search (account_id, instance_id, at, id, words)
    select account_id, instance_id, at, id, words from (
      select m.account_id, m.instance_id, case when m.mode is null then m.sent_at else m.created_at end as at, m.id, (
        select array_to_tsvector(array_agg(distinct m.instance_id || ':' || w.word))
        from (
          select left(word, 40) as word from regexp_split_to_table(
            lower(concat_ws(' ', content ->> 'text', content ->> 'caption', content ->> 'file_name', content ->> 'name')),
            '[\\s[:punct:]]+') as t (word)
          where word <> ''
          union all select '#' || m.type where m.type <> 'text'
        ) w) as words
      from message m) found
    where words is not null`.execute(db);
  await sql`
    create index message_search_words on message_search using gin (words) with (gin_pending_list_limit = 1024)
    `.execute(db);
}
