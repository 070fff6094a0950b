import { type RawBuilder, sql } from "kysely";
import { type BatchWriter, createBatchWriter } from "../../../engine/batch-queue.ts";
import type { Jid, MessageId } from "../../../network/driver.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import { currentMonth } from "../../plans/plans.ts";
import type { StoredContent } from "../log/message-view.ts";
import { searchWords } from "../log/search-words.ts";
import {
  countedByQuotaSql,
  createMonthCounters,
  type ExceededQuota,
  grantedByQuotaSql,
  messageQuotaExceeded,
} from "./message-quota.ts";
import type { IdempotencyKey } from "./prepare/idempotency-key.ts";

/** A send to be accepted, with its network id. */
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
  /** How long it may wait before it begins; null: as long as its campaign runs. */
  hold_ms: number | null;
  /** The earliest time of the send; default: at once. */
  run_at?: Date;
  idempotency: IdempotencyKey | null;
  /** The monthly message limit of the account's plan; null: no limit. */
  max_messages: number | null;
}

/** The row number; undefined if another message has its idempotency key. */
export type InsertedMessageId = number | undefined;

export type MessageInserter = Pick<BatchWriter<NewMessage, InsertedMessageId>, "write">;

/** What a fast machine accepts in a second; further requests get an error that asks for a later retry. */
const MOST_WAITING = 5_000;

/**
 * Inserts idempotency row, message, job and monthly counter of all waiting requests in one statement and
 * commit. A sync send moves earlier async sends of its chat forward with it, so that the chat keeps its
 * order. Throws MESSAGE_QUOTA_EXCEEDED and then stores nothing.
 */
export function createMessageInserter(db: Db): MessageInserter {
  const writer = createBatchWriter<NewMessage, InsertedMessageId | ExceededQuota>({
    write: (messages) => insertMessages(db, messages),
    maxWaiting: MOST_WAITING,
  });
  return {
    async write(message) {
      const inserted = await writer.write(message);
      if (typeof inserted === "object") throw messageQuotaExceeded(inserted);
      return inserted;
    },
  };
}

interface InsertedRow {
  ord: number;
  /** Null: the monthly quota was used up. */
  id: number | null;
  used: number | null;
}

/** The row number of each message, or the month's usage if the quota is used up. */
export async function insertMessages(
  db: Db | Trx,
  messages: NewMessage[],
): Promise<(InsertedMessageId | ExceededQuota)[]> {
  const month = currentMonth();
  const limited = new Set(messages.flatMap((one) => (one.max_messages === null ? [] : one.account_id)));
  if (limited.size > 0) await createMonthCounters(db, [...limited], month);
  const { rows } = await acceptStatement(messages, limited.size > 0 ? month : undefined).execute(db);
  const byOrd = new Map(rows.map((row) => [row.ord, row]));
  return messages.map(({ max_messages }, ord) => {
    const row = byOrd.get(ord);
    return row?.id === null ? { limit: max_messages ?? 0, used: row.used ?? 0 } : row?.id;
  });
}

/** `month`: some plans have a limit. Plans without one use no counter, which all sends would share. */
function acceptStatement(messages: NewMessage[], month: string | undefined): RawBuilder<InsertedRow> {
  const input = messages.map(({ idempotency, ...message }, ord) => ({
    ...message,
    ord,
    ...idempotency,
    words: searchWords(message.instance_id, message.content),
  }));
  const quota = month === undefined ? undefined : countedByQuotaSql(month);
  const [granting, granted] = month
    ? [sql`, ${grantedByQuotaSql(month)}`, sql`granted`]
    : [sql``, sql`numbered`];
  return sql<InsertedRow>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (
        ord int, account_id bigint, instance_id bigint, lane bigint, conversation_id bigint, message_id text,
        job_id text, jid text, origin text, mode text, type text, content jsonb, client_message_id text,
        track_id text, metadata jsonb, delay_ms int, hold_ms int, run_at timestamptz, max_messages bigint, route text, key text,
        fingerprint text, words text[])
      order by ord ${rowCountHint(input)}
    ), numbered as materialized (
      select nextval('message_id_seq') as id, input.* from input
    )${granting}, claimed as (
      insert into idempotency as i (account_id, instance_id, route, key, fingerprint, message)
      select distinct on (instance_id, route, key)
        account_id, instance_id, route, key, decode(fingerprint, 'hex'), id
      from ${granted} where key is not null order by instance_id, route, key, ord
      on conflict (instance_id, route, key) do update set
        fingerprint = excluded.fingerprint, message = excluded.message, created_at = now()
      where ${isKeyFree}
      returning message
    ), accepted as materialized (
      select * from ${granted} where key is null or id in (select message from claimed)
    ), ${INSERTED}, ${QUEUED}, ${CHATTED}${quota ? sql`, ${quota.counted}` : sql``}
    select ord, id, null::bigint as used from accepted
    ${quota ? sql`union all ${quota.refused}` : sql``}`;
}

const INSERTED = sql`
    inserted as (
      insert into message (id, account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode,
        jid, type, content, status, job_id, client_message_id, track_id, metadata, delay_ms, deadline)
      select id, account_id, instance_id, conversation_id, message_id, 'outbound', true, origin, mode,
        jid, type, content, 'pending', job_id, client_message_id, track_id, metadata, delay_ms,
        now() + hold_ms * interval '1 millisecond'
      from accepted
    )`;

/** Indexes the words of the message, and moves its chat to the top of the list. */
const CHATTED = sql`
    indexed as (
      insert into message_search (account_id, instance_id, at, id, words)
      select account_id, instance_id, now(), id, array_to_tsvector(words) from accepted where words <> '{}'
    ), chatted as (
      select id from conversation where id in (select conversation_id from accepted) order by id for no key update
    ), risen as (
      update conversation set last_message_at = now() where id in (select id from chatted)
    )`;

/** The order is sync, async, campaign. A campaign's message has its own job group: it waits for no other. */
const QUEUED = sql`
    overtaken as (
      select j.id from (select distinct lane, jid from accepted where mode = 'sync') a
      join job j on j.lane = a.lane and j.grp = a.jid and j.prio = 1 and j.ref ->> 'do' = 'send'
      order by j.id for update of j
    ), raised as (
      update job set prio = 0 where id in (select id from overtaken)
    ), queued as (
      insert into job (lane, prio, pos, grp, run_at, ref)
      select a.lane, case when a.origin = 'campaign' then 2 when exists (
          select from accepted s where s.mode = 'sync' and s.lane = a.lane and s.jid = a.jid and s.ord >= a.ord
        ) then 0 else 1 end, a.id, case when a.origin = 'campaign' then 'campaign:' || a.id else a.jid end,
        coalesce(a.run_at, now()), jsonb_build_object('do', 'send', 'message', a.id)
      from accepted a order by a.ord
    )`;

/**
 * Free if the key is old or its message is gone. A transaction that blocked here on another commit cannot see
 * that message or its key, so the key counts as taken.
 */
const isKeyFree = sql`i.created_at < now() - interval '24 hours' or (
  i.created_at < now() - interval '1 minute' and not exists (select from message m where m.id = i.message)
  and exists (select from idempotency seen
    where seen.instance_id = i.instance_id and seen.route = i.route and seen.key = i.key and seen.message = i.message))`;
