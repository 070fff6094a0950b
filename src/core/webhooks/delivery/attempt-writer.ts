import { sql } from "kysely";
import { createBatchWriter } from "../../../engine/batch-queue.ts";
import { lockOwnedLanes } from "../../../engine/lane-store.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { type PartitionRange, withPartitions } from "../../../platform/db/partitions.ts";
import { rowCountHint } from "../../../platform/db/prepared-statement.ts";
import { type EventDraft, recordEvents } from "../../events/events.ts";

/** One attempt, with its result for the delivery and the job. */
export interface AttemptRecord {
  lane: { id: number; epoch: number };
  job_id: number;
  /** Position of the event's job in the lane. */
  pos: number;
  delivery_id: number;
  event_id: string;
  event: string;
  event_at: Date;
  account_id: number;
  instance_id: number;
  webhook_id: number;
  webhook_name: string;
  url: string;
  attempt: number;
  trigger: "auto" | "manual";
  success: boolean;
  status_code: number | null;
  error: string | null;
  error_class: string | null;
  duration_ms: number;
  response_body: string | null;
  request_headers: Record<string, string> | null;
  status: "delivered" | "retrying" | "parked" | "failed" | null;
  /** Wait until the next attempt, by the database's clock; null: no further attempt. */
  retry_after_ms: number | null;
  /** Set if the other deliveries of the chat no longer wait for this one. */
  parkedGroup: string | null;
  /** Reports of this attempt, for webhooks that subscribe to them. */
  reports: EventDraft[];
}

/** How an attempt changed the state of the whole receiver. */
export type ReceiverChange = "failing" | "recovered";

/** The result of the recording; nothing is recorded if another process owns the lane. */
export type RecordedAttempt =
  | { isOwned: true; wake: number[]; change: ReceiverChange | null }
  | { isOwned: false };

/** Writes log, delivery, job and reports of all waiting attempts in one transaction, fenced by lanes. */
export function createAttemptWriter(db: Db, node: string) {
  return createBatchWriter<AttemptRecord, RecordedAttempt>({
    write(records) {
      const times = records.map((record) => record.event_at);
      return withPartitions(times, (range) => recordAttempts(db, { node, records, range }));
    },
  });
}

/**
 * Whether an attempt was committed although its connection broke before the response. The record locks the row of its
 * webhook first, so one that still runs is waited for.
 */
export async function isAttemptRecorded(
  db: Db,
  { job_id, webhook_id, event_id, event_at, delivery_id, attempt, trigger }: AttemptRecord,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await sql`select from webhook where id = ${webhook_id} for no key update`.execute(trx);
    // Manual attempts may share a number, but each has a job of its own, which its record deletes.
    const { rows } = await sql`
      select from attempt
      where event_id = ${event_id} and event_at = ${event_at} and delivery_id = ${delivery_id}
        and attempt = ${attempt} and trigger = ${trigger}
        and not exists (select from job where id = ${job_id} and attempts < ${attempt})
      limit 1`.execute(trx);
    return rows.length > 0;
  });
}

interface AttemptBatch {
  node: string;
  records: AttemptRecord[];
  /** Where their deliveries are. */
  range: PartitionRange;
}

async function recordAttempts(db: Db, batch: AttemptBatch): Promise<RecordedAttempt[]> {
  const { records } = batch;
  if (records.every((record) => record.reports.length === 0)) return writeAttempts(db, batch);
  return db.transaction().execute(async (trx) => {
    const recorded = await writeAttempts(trx, batch);
    const owned = records.filter((_, index) => recorded[index]?.isOwned);
    const wake = await recordEvents(
      trx,
      owned.flatMap((record) => record.reports),
    );
    return recorded.map((one) => (one.isOwned ? { ...one, wake } : one));
  });
}

/** Skips attempts whose lane this node has lost. */
async function writeAttempts(
  db: Db | Trx,
  { node, records, range }: AttemptBatch,
): Promise<RecordedAttempt[]> {
  const lanes = [...new Map(records.map(({ lane }) => [lane.id, lane])).values()];
  const input = JSON.stringify(
    records.map(({ lane, reports, ...row }, ord) => ({ ...row, lane: lane.id, ord })),
  );
  const { rows } = await sql<{ ord: number; change: ReceiverChange | null }>`${range.mark}
    with input as (
      select * from jsonb_to_recordset(${input}::jsonb) as x (
        ord int, lane bigint, job_id bigint, pos bigint, delivery_id bigint, event_id text, event text,
        event_at timestamptz, account_id bigint, instance_id bigint, webhook_id bigint, webhook_name text, url text,
        attempt int, trigger text, success boolean, status_code int, error text, error_class text, duration_ms int,
        response_body text, request_headers jsonb, status text, retry_after_ms int, "parkedGroup" text)
      ${rowCountHint(records)}
    ), owned as (${lockOwnedLanes(node, lanes)}),
    own as materialized (
      select i.*, now() + i.retry_after_ms * interval '1 millisecond' as next_retry_at
      from input i join owned o on o.id = i.lane
    ),
    ${logTries}, ${finishJobs}, ${updateDeliveries(range)}, ${updateWebhooks}
    select own.ord, seen.change from own left join seen on seen.ord = own.ord`.execute(db);
  const changes = new Map(rows.map(({ ord, change }) => [ord, change]));
  return records.map((_, ord) => {
    const change = changes.get(ord);
    return change === undefined ? { isOwned: false } : { isOwned: true, wake: [], change };
  });
}

const logTries = sql`logged as (
  insert into attempt (event_id, event_at, event, delivery_id, webhook_id, webhook_name, account_id, instance_id,
    url, attempt, trigger, success, status_code, error, error_class, duration_ms, response_body, request_headers)
  select event_id, event_at, event, delivery_id, webhook_id, webhook_name, account_id, instance_id,
    url, attempt, trigger, success, status_code, error, error_class, duration_ms, response_body, request_headers
  from own order by ord
)`;

/** A manual success also ends the automatic retries: their job has the same position in the lane. */
const finishJobs = sql`again as (
  update job j set run_at = o.next_retry_at, attempts = o.attempt, grp = coalesce(o."parkedGroup", j.grp)
  from own o
  where j.id = o.job_id and o.next_retry_at is not null
    and not exists (select from own s where s.delivery_id = o.delivery_id and s.success)
  returning j.id
), finished as (
  delete from job j using own o where j.id = o.job_id and o.next_retry_at is null
), overtaken as (
  delete from job j using own o
  where o.trigger = 'manual' and o.success and j.lane = o.lane and j.prio = 1 and j.pos = o.pos
    and (j.ref ->> 'delivery')::bigint = o.delivery_id
)`;

/** A success is final. A retry counts only while its job exists; a removal or manual success deletes it. */
function updateDeliveries({ table, from, to }: PartitionRange) {
  return sql`updated as (
    update ${table("delivery")} d set
      status = case when o.success or d.status = 'delivered' then 'delivered'
        when o.next_retry_at is not null and not o.is_again then d.status
        else coalesce(o.status, d.status) end,
      attempts = case when o.trigger = 'auto' then o.attempt else d.attempts end,
      next_retry_at = case when o.success or d.status = 'delivered' then null
        when o.trigger = 'manual' then d.next_retry_at
        when o.is_again then o.next_retry_at end,
      delivered_at = case when o.success then now() else d.delivered_at end,
      response_status = case when d.status = 'delivered' and not o.success then d.response_status else o.status_code end,
      error = case when d.status = 'delivered' then null else o.error end,
      error_class = case when d.status = 'delivered' then null else o.error_class end
    from (
      select distinct on (delivery_id) *, exists (select from again where again.id = own.job_id) as is_again
      from own order by delivery_id, success desc, ord desc
    ) o
    where d.id = o.delivery_id and d.created_at = o.event_at
      and d.created_at between ${from} and ${to}
  )`;
}

/**
 * Returns the attempt, the last of its batch, with which the receiver began to fail or recovered. The rows
 * are locked before they are read, so that only the node that makes the change reports it.
 */
const updateWebhooks = sql`before as materialized (
  select id, failing_since from webhook where id in (select webhook_id from own) order by id for no key update
), seen as (
  update webhook w set last_delivery_at = now(), last_status = o.status_code,
    last_error_class = case when not o.has_success then o.error_class end,
    failing_since = case when o.has_success then null else coalesce(w.failing_since, now()) end,
    failed_events = case when o.has_success then 0 else w.failed_events + o.given_up end,
    warned_at = case when o.has_success then null else w.warned_at end
  from (
    select webhook_id, (array_agg(status_code order by ord desc))[1] as status_code,
      (array_agg(error_class order by ord desc))[1] as error_class,
      coalesce(max(ord) filter (where success), max(ord)) as ord,
      bool_or(success) as has_success, count(*) filter (where status = 'failed') as given_up
    from own group by webhook_id
  ) o, before
  where w.id = o.webhook_id and before.id = o.webhook_id
  returning o.ord, case when before.failing_since is null and not o.has_success then 'failing'
    when before.failing_since is not null and o.has_success then 'recovered' end as change
)`;
