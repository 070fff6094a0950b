import { type RawBuilder, sql } from "kysely";
import type { RecurringJob } from "../../engine/recurring-jobs.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { markFilesForDeletion } from "../media/media.ts";
import { subscriberLanes } from "../statement-hooks.ts";
import { dropOldPartitions, type PartitionRetentionOptions } from "./drop-old-partitions.ts";
import { applyRetention, type RetentionCutoff, type RetentionRule, ROWS_AT_ONCE } from "./retention.ts";

/** Messages with their files and indexed words, also of removed instances. */
export const MESSAGE_RETENTION: RetentionRule = { kind: "message", deleteOldest };

/** Events with their deliveries, by instance and `sequence`: a pending event retains all later ones. */
export const EVENT_RETENTION: RetentionRule = { kind: "event", deleteOldest: deleteEvents };

/** The logs of requests, connections and webhook delivery attempts. */
export const LOG_RETENTION: RetentionRule = { kind: "log", deleteOldest: deleteLogs };

const DAY_MS = 86_400_000;

export interface RetentionJobOptions extends PartitionRetentionOptions {
  mediaRetentionMs: number;
  messageRetentionMs: number;
  /** Data of extensions. */
  rules: readonly DefaultRetention[];
}

/** A rule with the retention that counts unless the account has one. */
export interface DefaultRetention {
  rule: RetentionRule;
  defaultMs: number;
}

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;

/** Everything that the gateway deletes because of its age, with the setting and the interval. */
export function retentionJobs(db: Db, options: RetentionJobOptions): RecurringJob[] {
  const { mediaRetentionMs, messageRetentionMs, rules } = options;
  return [
    { name: "retention", everyMs: HOUR_MS, run: () => dropOldPartitions(db, options) },
    { name: "media-retention", everyMs: HOUR_MS, run: () => applyFileRetention(db, mediaRetentionMs) },
    ruleJob(db, MESSAGE_RETENTION, messageRetentionMs),
    ...rules.map(({ rule, defaultMs }) => ruleJob(db, rule, defaultMs)),
    // Only the retention of an account: that of the gateway drops whole days of them.
    ruleJob(db, EVENT_RETENTION),
    ruleJob(db, LOG_RETENTION),
  ];
}

function ruleJob(db: Db, rule: RetentionRule, defaultMs?: number): RecurringJob {
  const name = `${rule.kind}-retention`;
  return { name, everyMs: TEN_MINUTES_MS, run: () => applyRetention(db, rule, defaultMs) };
}

/**
 * Releases old files, which the media feature then deletes if nothing else refers to them. The instance's
 * setting counts, or else its plan's, or else `defaultMs`. The messages stay, with files that have expired.
 */
export async function applyFileRetention(db: Db, defaultMs: number): Promise<void> {
  const days = sql`coalesce((i.settings ->> 'media_retention_days')::float8,
    (p.features ->> 'media_retention_days')::float8, ${defaultMs / DAY_MS})`;
  for (let released = ROWS_AT_ONCE; released >= ROWS_AT_ONCE; ) {
    const { numAffectedRows } = await sql`
      update media set status = 'expired', reason = 'retention', blob = null
      where id in (
        select old.id from instance i join account a on a.id = i.account_id join plan p on p.id = a.plan_id
        cross join lateral (
          select id from media where instance_id = i.id and status = 'ready'
            and ready_at < now() - ${days} * interval '1 day'
          order by ready_at limit ${ROWS_AT_ONCE}
        ) old
        limit ${ROWS_AT_ONCE}
      )`.execute(db);
    released = Number(numAffectedRows ?? 0);
  }
}

async function deleteLogs(trx: Trx, cutoff: RetentionCutoff): Promise<number> {
  const ofInstances = sql`instance_id in (select id from instance where account_id = ${cutoff.account_id})`;
  let deleted = await deleteRows(trx, "api_log", sql`account_id = ${cutoff.account_id}`, cutoff);
  for (const table of ["connection_log", "attempt"] as const)
    deleted += await deleteRows(trx, table, ofInstances, cutoff);
  return deleted;
}

/** Both conditions contain the time, so that only earlier partitions are read. */
async function deleteRows(
  trx: Trx,
  table: "api_log" | "connection_log" | "attempt",
  isOfAccount: RawBuilder<unknown>,
  { before }: RetentionCutoff,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} t
    using (
      select id, created_at from ${sql.table(table)}
      where ${isOfAccount} and created_at < ${before} order by id limit ${ROWS_AT_ONCE}
    ) old
    where t.id = old.id and t.created_at = old.created_at and t.created_at < ${before}`.execute(trx);
  return Number(numAffectedRows);
}

async function deleteEvents(trx: Trx, { account_id, before }: RetentionCutoff): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with old as materialized (
      select o.event_id, o.created_at
      from instance i cross join lateral (
        select event_id, created_at, bool_or(
          exists (
            select from delivery d where d.event_id = e.event_id and d.status in ('pending', 'retrying', 'parked'))
          or e.event_id in (select ref ->> 'event_id' from job where lane in (${subscriberLanes(sql`instance_id = i.id`)}))
        ) over (order by e.sequence) as must_stay
        from (
          select event_id, created_at, sequence from event
          where instance_id = i.id and created_at < ${before} order by sequence limit ${ROWS_AT_ONCE}
        ) e
      ) o
      where i.account_id = ${account_id} and not o.must_stay
      limit ${ROWS_AT_ONCE}
    ), deliveries as (
      delete from delivery d using old where d.event_id = old.event_id and d.created_at < ${before}
    ), events as (
      delete from event e using old
      where e.event_id = old.event_id and e.created_at = old.created_at and e.created_at < ${before}
    )
    select count(*) as deleted from old`.execute(trx);
  return Number(rows[0]?.deleted ?? 0);
}

/** A send without an outcome stays until it has one. */
async function deleteOldest(trx: Trx, { account_id, before }: RetentionCutoff): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select old.id from instance i cross join lateral (
      select id from message where instance_id = i.id and sent_at < ${before} and status not in ('scheduled', 'pending')
      order by sent_at, id limit ${ROWS_AT_ONCE} for update skip locked
    ) old
    where i.account_id = ${account_id} limit ${ROWS_AT_ONCE}`.execute(trx);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await deleteFiles(trx, ids);
  await sql`
    delete from message_search s using message m
    where m.id = any(${ids}::bigint[]) and s.instance_id = m.instance_id and s.id = m.id
      and s.at = case when m.mode is null then m.sent_at else m.created_at end`.execute(trx);
  await trx.deleteFrom("message").where("id", "in", ids).execute();
  return ids.length;
}

async function deleteFiles(trx: Trx, messages: readonly number[]): Promise<void> {
  const { rows: files } = await sql<{ id: string; blob: number | null; upload: string | null }>`
    select id, blob, upload from media where message = any(${messages}::bigint[]) order by id for update`.execute(
    trx,
  );
  if (files.length === 0) return;
  const ids = files.map(({ id }) => id);
  await sql`delete from media where id = any(${ids}::text[])`.execute(trx);
  const uploads = files.flatMap(({ upload }) => upload ?? []);
  if (uploads.length > 0) await trx.deleteFrom("outgoing_media").where("id", "in", uploads).execute();
  await markFilesForDeletion(
    trx,
    files.flatMap(({ blob }) => blob ?? []),
  );
}
