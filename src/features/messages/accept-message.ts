import { sql } from "kysely";
import { createWriter, type Writer } from "../../engine/writer.ts";
import type { Jid, MessageId } from "../../network/driver.ts";
import type { Db } from "../../platform/db.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import type { StoredContent } from "./message-view.ts";

/** A send that is about to be taken; its network id is chosen already. */
export interface NewMessage {
  account_id: number;
  instance_id: number;
  lane: number;
  conversation_id: number;
  message_id: MessageId;
  job_id: string;
  jid: Jid;
  origin: "api" | "panel" | "campaign" | "inbox" | "chatbot";
  mode: "sync" | "async";
  type: string;
  content: StoredContent;
  client_message_id: string | null;
  track_id: string | null;
  metadata: Record<string, unknown> | null;
  delay_ms: number | null;
  /** How long it may wait before its send begins. */
  hold_ms: number;
  idempotency: IdempotencyKey | null;
}

/** Its row number; undefined when another message holds its idempotency key. */
export type AcceptedId = number | undefined;

export type MessageAcceptor = Pick<Writer<NewMessage, AcceptedId>, "write">;

/**
 * Takes messages: idempotency row, message and job of all that wait in one statement and one commit. A sync send
 * draws the async sends of its chat that wait before it to the front, so that the chat keeps its order.
 */
export function createMessageAcceptor(db: Db): MessageAcceptor {
  return createWriter<NewMessage, AcceptedId>({ write: (messages) => acceptMessages(db, messages) });
}

async function acceptMessages(db: Db, messages: NewMessage[]): Promise<AcceptedId[]> {
  const input = messages.map(({ idempotency, ...message }, ord) => ({ ...message, ord, ...idempotency }));
  const { rows } = await sql<{ ord: number; id: number }>`
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (
        ord int, account_id bigint, instance_id bigint, lane bigint, conversation_id bigint, message_id text,
        job_id text, jid text, origin text, mode text, type text, content jsonb, client_message_id text,
        track_id text, metadata jsonb, delay_ms int, hold_ms int, route text, key text, fingerprint text)
      order by ord
    ), numbered as materialized (
      select nextval('message_id_seq') as id, input.* from input
    ), claimed as (
      insert into idempotency as i (account_id, instance_id, route, key, fingerprint, message)
      select distinct on (instance_id, route, key)
        account_id, instance_id, route, key, decode(fingerprint, 'hex'), id
      from numbered where key is not null order by instance_id, route, key, ord
      on conflict (instance_id, route, key) do update set
        fingerprint = excluded.fingerprint, message = excluded.message, created_at = now()
      where ${isKeyFree}
      returning message
    ), accepted as materialized (
      select * from numbered where key is null or id in (select message from claimed)
    ), inserted as (
      insert into message (id, account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode,
        jid, type, content, status, job_id, client_message_id, track_id, metadata, delay_ms, deadline)
      select id, account_id, instance_id, conversation_id, message_id, 'outbound', true, origin, mode,
        jid, type, content, 'pending', job_id, client_message_id, track_id, metadata, delay_ms,
        now() + hold_ms * interval '1 millisecond'
      from accepted
    ), overtaken as (
      select j.id from (select distinct lane, jid from accepted where mode = 'sync') a
      join job j on j.lane = a.lane and j.grp = a.jid and j.prio = 1 and j.ref ->> 'do' = 'send'
      order by j.id for update of j
    ), raised as (
      update job set prio = 0 where id in (select id from overtaken)
    ), queued as (
      insert into job (lane, prio, pos, grp, ref)
      select a.lane, case when exists (
          select from accepted s where s.mode = 'sync' and s.lane = a.lane and s.jid = a.jid and s.ord >= a.ord
        ) then 0 else 1 end, a.id, a.jid, jsonb_build_object('do', 'send', 'message', a.id)
      from accepted a order by a.ord
    )
    select ord, id from accepted`.execute(db);
  const ids = new Map(rows.map((row) => [row.ord, row.id]));
  return messages.map((_, ord) => ids.get(ord));
}

/**
 * Old enough, or left behind without its message. Whoever has waited here for another's commit does not see that
 * other's message, so a young key counts as taken whatever it points at.
 */
const isKeyFree = sql`i.created_at < now() - interval '24 hours' or (
  i.created_at < now() - interval '1 minute' and not exists (select from message m where m.id = i.message))`;
