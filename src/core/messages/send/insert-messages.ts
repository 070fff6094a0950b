import { type RawBuilder, sql } from "kysely";
import { type BatchWriter, createBatchWriter } from "../../../engine/batch-queue.ts";
import { type AddedJob, singleJobGroup } from "../../../engine/job-store.ts";
import type { Jid, MessageId } from "../../../network/driver.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
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
import { type LaneOwner, type SubmittedSend, submitAcceptedSql } from "./submit-accepted.ts";

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
  /** The earliest time of a campaign's send; default: at once. */
  run_at?: Date;
  /** Schedules the send: until then it waits outside its chat, and `hold_ms` begins. */
  send_at?: Date | undefined;
  idempotency: IdempotencyKey | null;
  /** The node whose caller waits for the outcome. */
  awaited_by?: string;
  /** The monthly message limit of the account's plan; null: no limit. */
  max_messages: number | null;
  /** The span that the send belongs to. */
  trace?: TraceParent | undefined;
  /** Lets the statement submit the message, or refuse it if its instance has changed. */
  owner?: LaneOwner;
}

export interface InsertedMessage {
  /** The row number. */
  id: number;
  /** Its job, if it is due and no earlier send of its chat waits. */
  job: AddedJob | undefined;
  /** Set if the statement has submitted it; it then has a job. */
  submitted: SubmittedSend | undefined;
}

/**
 * Undefined for a message whose idempotency key another message has, or whose instance is no longer as it was
 * remembered.
 */
export type MessageInserter = Pick<BatchWriter<NewMessage, InsertedMessage | undefined>, "write">;

/** What a fast machine accepts in a second; further requests get an error that asks for a later retry. */
const MOST_WAITING = 5_000;

/**
 * Inserts idempotency row, message, job and monthly counter of all waiting requests in one statement and
 * commit. A sync send moves earlier async sends of its chat forward with it, so that the chat keeps its
 * order. Throws MESSAGE_QUOTA_EXCEEDED and then stores nothing.
 */
export function createMessageInserter(db: Db): MessageInserter {
  const writer = createBatchWriter<NewMessage, InsertedMessage | ExceededQuota | undefined>({
    write: (messages) => insertMessages(db, messages),
    maxWaiting: MOST_WAITING,
  });
  return {
    async write(message) {
      const inserted = await writer.write(message);
      if (inserted && "limit" in inserted) throw messageQuotaExceeded(inserted);
      return inserted;
    },
  };
}

interface InsertedRow {
  ord: number;
  /** Null: the monthly quota was used up. */
  id: number | null;
  used: number | null;
  prio: number | null;
  run_at: Date | null;
  /** Null: an earlier send of the chat may wait. */
  job: number | null;
  /** Null: it is not submitted. */
  network: SubmittedSend["network"] | null;
  on_unknown: SubmittedSend["on_unknown"];
}

/** Returns for each message its row, or the month's usage if the quota is used up. */
export async function insertMessages(
  db: Db | Trx,
  messages: NewMessage[],
): Promise<(InsertedMessage | ExceededQuota | undefined)[]> {
  const month = currentMonth();
  const limited = new Set(messages.flatMap((one) => (one.max_messages === null ? [] : one.account_id)));
  if (limited.size > 0) await createMonthCounters(db, [...limited], month);
  const { rows } = await acceptStatement(messages, limited.size > 0 ? month : undefined).execute(db);
  const byOrd = new Map(rows.map((row) => [row.ord, row]));
  return messages.map((message, ord) => {
    const row = byOrd.get(ord);
    if (row?.id === null) return { limit: message.max_messages ?? 0, used: row.used ?? 0 };
    return row && toInserted(message, row.id, row);
  });
}

/**
 * Inserts the messages of an album in one commit. Only the first may have an idempotency key; undefined if another
 * message has it. Throws MESSAGE_QUOTA_EXCEEDED and then stores nothing.
 */
export function insertAlbum(
  db: Db,
  first: NewMessage,
  others: NewMessage[],
): Promise<{ id: number }[] | undefined> {
  return db.transaction().execute(async (trx) => {
    const [lead] = requireInserted(await insertMessages(trx, [first]));
    return lead && [lead, ...requireInserted(await insertMessages(trx, others))];
  });
}

function requireInserted(inserted: Awaited<ReturnType<typeof insertMessages>>): InsertedMessage[] {
  return inserted.flatMap((one) => {
    if (one && "limit" in one) throw messageQuotaExceeded(one);
    return one ?? [];
  });
}

function toInserted(message: NewMessage, id: number, row: InsertedRow): InsertedMessage {
  const { network, on_unknown } = row;
  return { id, job: toAddedJob(message, id, row), submitted: network ? { network, on_unknown } : undefined };
}

function toAddedJob(
  { lane, jid, awaited_by, trace }: NewMessage,
  id: number,
  { job, prio, run_at }: InsertedRow,
): AddedJob | undefined {
  if (job === null || prio === null || run_at === null) return undefined;
  return {
    id: job,
    lane,
    prio,
    pos: id,
    grp: jid,
    run_at,
    ref: { do: "send", message: id, awaited_by, trace },
  };
}

/** `month`: some plans have a limit. Plans without one use no counter, which all sends would share. */
function acceptStatement(messages: NewMessage[], month: string | undefined): RawBuilder<InsertedRow> {
  const input = messages.map(({ idempotency, owner, ...message }, ord) => ({
    ...message,
    ord,
    ...idempotency,
    may_submit: owner !== undefined,
    words: searchWords(message.instance_id, message.content),
  }));
  const quota = month === undefined ? undefined : countedByQuotaSql(month);
  const [granting, granted] = month
    ? [sql`, ${grantedByQuotaSql(month)}`, sql`granted`]
    : [sql``, sql`numbered`];
  const owners = messages.flatMap(({ owner }) => owner ?? []);
  const submission = owners.length > 0 ? submitAcceptedSql(owners) : undefined;
  return sql<InsertedRow>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (
        ord int, account_id bigint, instance_id bigint, lane bigint, conversation_id bigint, message_id text,
        job_id text, jid text, origin text, mode text, type text, content jsonb, client_message_id text,
        track_id text, metadata jsonb, delay_ms int, hold_ms int, run_at timestamptz, send_at timestamptz, awaited_by text, trace text,
        max_messages bigint, may_submit boolean, route text, key text, fingerprint text, words text[])
      order by ord ${rowCountHint(input)}
    )${submission ? sql`, ${submission.loaded}` : sql``}, numbered as materialized (
      select nextval('message_id_seq') as id, input.* from input
      ${submission ? sql`where ${submission.isAcceptable}` : sql``}
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
    ), ${URGENT}, ${FIRST_OF_CHAT}, ${submission?.begun ?? NOTHING_BEGUN}, ${INSERTED}, ${QUEUED}, ${CHATTED}
    ${quota ? sql`, ${quota.counted}` : sql``}
    select a.ord, a.id, null::bigint as used, q.prio, q.run_at, case when f.ord is not null then q.id end as job,
      b.network, b.on_unknown
    from accepted a join queued q on q.pos = a.id left join first_of_chat f on f.ord = a.ord
      left join begun b on b.ord = a.ord
    ${quota ? sql`union all select *, null, null, null, null, null from (${quota.refused}) as refused` : sql``}`;
}

const NOTHING_BEGUN = sql`
    begun as (select null::int as ord, null::text as network, null::text as on_unknown where false)`;

const INSERTED = sql`
    inserted as (
      insert into message (id, account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode,
        jid, type, content, status, job_id, client_message_id, track_id, metadata, delay_ms, send_at, deadline, submitted_at)
      select id, account_id, instance_id, conversation_id, message_id, 'outbound', true, origin, mode,
        jid, type, content, case when send_at is null then 'pending' else 'scheduled' end, job_id, client_message_id,
        track_id, metadata, delay_ms, send_at, coalesce(send_at, now()) + hold_ms * interval '1 millisecond', case when ord in (select ord from begun) then now() end
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

/**
 * The async sends that wait in the chat of an accepted message `a`. `offset 0` keeps it apart from the statement around
 * it. Otherwise PostgreSQL, without statistics of a young table, reads those of all chats for each message.
 */
const WAITING_IN_CHAT = sql`
  select j.id from job j where j.lane = a.lane and j.grp = a.jid and j.prio = 1 and j.ref ->> 'do' = 'send' offset 0`;

/** A scheduled send waits in this group, in which it holds up no other send of its chat. */
export function scheduledGroup(message: number | ""): string {
  return singleJobGroup(`message:${message}`);
}

/** The order is sync, async, campaign. A campaign's message has its own job group: it waits for no other. */
const QUEUED = sql`
    overtaken as (
      select j.id from job j
      where j.prio = 1 and j.id = any(array(
        select w.id from (select distinct lane, jid from accepted where mode = 'sync') a
        cross join lateral (${WAITING_IN_CHAT}) w
      ))
      order by j.id for update
    ), raised as (
      update job set prio = 0 where id in (select id from overtaken)
    ), queued as (
      insert into job (lane, prio, pos, grp, run_at, ref)
      select a.lane, case when a.origin = 'campaign' then 2 when a.send_at is null and exists (
          select from accepted s where s.mode = 'sync' and s.lane = a.lane and s.jid = a.jid and s.ord >= a.ord
        ) then 0 else 1 end, a.id, case when a.origin = 'campaign' then 'campaign:' || a.id
          when a.send_at is not null then ${sql.lit(scheduledGroup(""))} || a.id else a.jid end,
        coalesce(a.send_at, a.run_at, now()),
        jsonb_strip_nulls(jsonb_build_object('do', 'send', 'message', a.id, 'awaited_by', a.awaited_by,
          'trace', a.trace, 'scheduled', case when a.send_at is not null then true end))
      from accepted a order by a.ord
      returning id, pos, prio, run_at
    )`;

/** Bounds the cost for a session with thousands of waiting sync sends. */
const MOST_URGENT = 64;

/** The groups of each lane's waiting jobs of priority 0. */
const URGENT = sql`
    urgent as materialized (
      select a.lane, array(
        select j.grp from job j where j.lane = a.lane and j.prio = 0 order by j.pos limit ${sql.lit(MOST_URGENT)}
      ) as grps
      from (select distinct lane from accepted) a
    )`;

/** The messages before which no accepted send of their chat waits, on any node. */
const FIRST_OF_CHAT = sql`
    first_of_chat as materialized (
      select a.ord from accepted a join urgent u on u.lane = a.lane
      where a.origin <> 'campaign' and a.run_at is null and a.send_at is null
        and cardinality(u.grps) < ${sql.lit(MOST_URGENT)} and a.jid <> all(u.grps)
        and not exists (${WAITING_IN_CHAT})
        and not exists (select from accepted s where s.lane = a.lane and s.jid = a.jid and s.ord < a.ord)
    )`;

/**
 * Free if the key is old or its message is gone. A transaction that blocked here on another commit cannot see
 * that message or its key, so the key counts as taken.
 */
const isKeyFree = sql`i.created_at < now() - interval '24 hours' or (
  i.created_at < now() - interval '1 minute' and not exists (select from message m where m.id = i.message)
  and exists (select from idempotency seen
    where seen.instance_id = i.instance_id and seen.route = i.route and seen.key = i.key and seen.message = i.message))`;
