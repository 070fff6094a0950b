import type { Pool } from "pg";
import type { SandboxRequest } from "./sandbox-request.ts";

/** The result of a request; `closed` means that its session no longer had the open socket. */
export type RequestOutcome = "accepted" | "slow" | "silent" | "refused" | "outside" | "missing" | "closed";

export interface RecordedRequests {
  outcomes: RequestOutcome[];
  /** Devices with new entries, and in how many milliseconds these are due. */
  wakeups: { device: number; after_ms: number }[];
}

/**
 * Accepts requests in order, as one statement. The ledger records every arrival, but its effects happen once
 * per message id. A refused or unacknowledged request writes nothing for its recipient. The sender's device
 * determines the account.
 */
const RECORD_REQUESTS = `
  with item as (
    select i.*, d.id is not null as is_open, d.account_id, g.jid is not null as is_group, exists (
        select from sandbox.device o
        where o.phone = i.phone and o.account_id = d.account_id and o.phone <> i.me and o.linked_at is not null and o.unlinked_at is null
      ) or exists (
        select from sandbox.group_member m
        join sandbox.device o on o.phone = m.phone and o.account_id = m.account_id
          and o.linked_at is not null and o.unlinked_at is null
        where m.group_jid = g.jid and m.account_id = g.account_id and m.phone <> i.me
      ) as is_paired, i.chat like '%@g.us' and i.action not in ('presence', 'star', 'delete_for_me') and not exists (
        select from sandbox.group_member m
        where m.group_jid = g.jid and m.account_id = g.account_id and m.phone = i.me and (m.admin is not null or not g.announce)
      ) as is_barred, not exists (
        select from sandbox.group_member m
        where m.group_jid = g.jid and m.account_id = g.account_id and m.phone = i.me
      ) as is_outside
    from jsonb_to_recordset($1) as i (
      ord int, device bigint, session text, me text, my_chat text, action text, message_id text, target_id text, chat text,
      phone text, kind text, content jsonb, text text, rule text, peer jsonb, own jsonb, replies jsonb)
    left join sandbox.device d on d.id = i.device and d.session = i.session
      and d.unlinked_at is null and d.banned_at is null
    left join sandbox.group_chat g on g.jid = i.chat and g.account_id = d.account_id
  ), received as materialized (
    select *, case when not is_open then 'closed' when is_barred and is_outside then 'outside' when is_barred then 'refused' when is_paired then 'accepted'
      else rule end as outcome from item
  ), entered as (
    insert into sandbox.ledger
      (device, phone, session, action, outcome, message_id, target_id, chat, kind, content)
    select device, me, session, action, outcome, message_id, target_id, chat, kind, content
    from received order by ord
  ), inserted as (
    insert into sandbox.message (account_id, phone, id, chat, body, poll)
    select distinct on (account_id, me, message_id) account_id, me, message_id, chat, left(text, 1000), content -> 'poll'
    from received where outcome in ('accepted', 'slow') and message_id is not null
    order by account_id, me, message_id, ord
    on conflict do nothing
    returning account_id, phone, id
  ), passed as materialized (
    select distinct on (a.account_id, a.me, a.message_id) a.* from received a
    join inserted f on f.account_id = a.account_id and f.phone = a.me and f.id = a.message_id
    where a.outcome in ('accepted', 'slow')
    order by a.account_id, a.me, a.message_id, a.ord
  ), entry as (
    select ord, 0 as nth, o.id as device, my_chat as chat, peer as content, 0 as after_ms
    from passed p join sandbox.device o on o.phone = p.phone and o.account_id = p.account_id
      and o.phone <> p.me and o.linked_at is not null and o.unlinked_at is null
    where peer is not null and not exists (
      select from sandbox.address_book b
      where b.account_id = p.account_id and b.owner = o.phone and b.phone = p.me and b.is_blocked)
    union all
    select ord, 0, o.id, p.chat, peer, 0
    from passed p join sandbox.group_member m on m.group_jid = p.chat and m.account_id = p.account_id
      and m.phone <> p.me
    join sandbox.device o on o.phone = m.phone and o.account_id = p.account_id
      and o.linked_at is not null and o.unlinked_at is null
    where peer is not null
    union all
    select ord, 1, o.id, chat, own, 0
    from passed p join sandbox.device o on o.phone = p.me and o.account_id = p.account_id
      and o.id <> p.device and o.linked_at is not null and o.unlinked_at is null
    where own is not null
    union all
    select ord, 1 + a.nth, o.id, chat, a.reply, (a.reply->>'after_ms')::int
    from passed p
    join sandbox.device o on o.phone = p.me and o.account_id = p.account_id
      and o.linked_at is not null and o.unlinked_at is null
    cross join lateral jsonb_array_elements(p.replies) with ordinality as a (reply, nth)
    where not p.is_paired and not p.is_group
    union all
    select ord, 1 + a.nth, o.id, chat,
      jsonb_set(a.reply, '{body,by}', jsonb_build_object('phone', m.phone, 'push_name', null)),
      (a.reply->>'after_ms')::int
    from passed p
    join sandbox.device o on o.phone = p.me and o.account_id = p.account_id
      and o.linked_at is not null and o.unlinked_at is null
    join sandbox.group_member m on m.group_jid = p.chat and m.account_id = p.account_id and m.phone <> p.me
    cross join lateral jsonb_array_elements(p.replies) with ordinality as a (reply, nth)
    where p.is_group and a.reply->>'kind' = 'status'
      and not (a.reply->'body'->>'status' = 'read' and m.phone like '%0003')
      and not exists (
        select from sandbox.device d
        where d.phone = m.phone and d.account_id = m.account_id and d.linked_at is not null and d.unlinked_at is null)
  ), posted as (
    insert into sandbox.inbox (device, chat, kind, body, due_at)
    select device, chat, content->>'kind', content->'body', now() + after_ms * interval '1 millisecond'
    from entry order by ord, nth
  )
  select (select json_agg(outcome order by ord) from received) as outcomes,
         (select json_agg(w) from (select distinct device, after_ms from entry) w) as wakeups`;

export async function recordRequests(pool: Pool, requests: SandboxRequest[]): Promise<RecordedRequests> {
  const items = requests.map((request, ord) => ({ ...request, ord }));
  const { rows } = await pool.query<{
    outcomes: RequestOutcome[];
    wakeups: RecordedRequests["wakeups"] | null;
  }>({
    name: "sandbox-record-requests",
    text: RECORD_REQUESTS,
    values: [JSON.stringify(items)],
  });
  const [row] = rows;
  if (!row) throw new Error("the sandbox network returned no result for an inbound message");
  return { outcomes: row.outcomes, wakeups: row.wakeups ?? [] };
}

/** A session's read receipts for messages. */
export interface ReadReceiptRequest {
  device: number;
  session: string;
  me: string;
  chat: string;
  /** Each message with the phone of its writer. */
  messages: { id: string; writer: string | null }[];
  status: "read" | "played";
}

/** Notifies the writers that their messages were read; false if the session has no open socket. */
export async function recordReadReceipt(
  pool: Pool,
  reading: ReadReceiptRequest,
): Promise<{ isOpen: boolean; notified: number[] }> {
  const { rows } = await pool.query<{ is_open: boolean; notified: number[] | null }>({
    name: "sandbox-reading",
    text: `
      with reader as (
        select id, account_id from sandbox.device where id = $1 and session = $2 and unlinked_at is null
      ), read as (
        select r.id, r.writer, reader.account_id from reader, jsonb_to_recordset($5) as r (id text, writer text)
      ), entered as (
        insert into sandbox.ledger (device, phone, session, action, outcome, target_id, chat)
        select $1, $3, $2, 'read', case when exists (select from reader) then 'accepted' else 'closed' end, r.id, $4
        from jsonb_to_recordset($5) as r (id text)
      ), notified as (
        insert into sandbox.inbox (device, chat, kind, body)
        select d.id, m.chat, 'status',
               jsonb_build_object('ids', jsonb_build_array(r.id), 'from_me', true, 'status', $6::text,
                 'by', case when m.chat like '%@g.us' then jsonb_build_object('phone', $3::text, 'push_name', null) end)
        from read r
        join sandbox.message m on m.phone = r.writer and m.id = r.id and m.account_id = r.account_id
        join sandbox.device d on d.phone = r.writer and d.account_id = r.account_id
         and d.linked_at is not null and d.unlinked_at is null
        where r.writer <> $3
        union all
        select d.id, $4, 'status',
               jsonb_build_object('ids', jsonb_agg(r.id), 'from_me', false, 'status', $6::text)
        from read r
        join sandbox.device d on d.phone = $3 and d.account_id = r.account_id and d.id <> $1
         and d.linked_at is not null and d.unlinked_at is null
        group by d.id
        returning device
      )
      select exists (select from reader) as is_open, (select json_agg(distinct device) from notified) as notified`,
    values: [
      reading.device,
      reading.session,
      reading.me,
      reading.chat,
      JSON.stringify(reading.messages),
      reading.status,
    ],
  });
  return { isOpen: rows[0]?.is_open ?? false, notified: rows[0]?.notified ?? [] };
}
