import { sql } from "kysely";
import { type Db, readDatabaseTime } from "../../platform/db/database.ts";
import { dropPartitionsBefore, PARTITIONED } from "../../platform/db/partitions.ts";
import type { Log } from "../../platform/log/log.ts";
import { longestRetryScheduleMs } from "../webhooks/webhooks.ts";

export interface PartitionRetentionOptions {
  retentionMs: number;
  retryScheduleMs: readonly number[];
  log: Log;
}

/** The tables that the next attempt of a delivery needs. */
const DELIVERED = ["event", "delivery"] as const;
const OTHERS = PARTITIONED.filter((table) => !DELIVERED.some((one) => one === table));
const DAY_MS = 86_400_000;

/**
 * Drops the days that are older than the retention, by the database's clock, since the node's may be wrong.
 * While a delivery of an expired event is pending, events stay, at most for the longest retry schedule.
 * Returns the names of the dropped partitions.
 */
export async function dropOldPartitions(
  db: Db,
  { retentionMs, retryScheduleMs, log }: PartitionRetentionOptions,
): Promise<string[]> {
  const limit = (await readDatabaseTime(db)).getTime() - retentionMs;
  const earliest = Math.floor((limit - longestRetryScheduleMs(retryScheduleMs)) / DAY_MS) * DAY_MS;
  const waiting = await findOldestWaiting(db, new Date(limit));
  if (waiting < earliest) {
    log.warn("pending deliveries were dropped: older than WAYGATE_RETENTION plus the longest retry schedule");
  }
  // All later days stay too: without them a replay by `sequence` would have gaps.
  const eventLimit = Math.max(earliest, Math.min(limit, waiting));
  return [
    ...(await dropPartitionsBefore(db, new Date(limit), OTHERS)),
    ...(await dropPartitionsBefore(db, new Date(eventLimit), DELIVERED)),
  ];
}

/** The time of the oldest event with a pending delivery; infinite if there is none. */
async function findOldestWaiting(db: Db, before: Date): Promise<number> {
  // The redundant condition lets PostgreSQL use the index of undelivered rows.
  const { rows } = await sql<{ at: Date | null }>`
    select min(created_at) as at from delivery
    where created_at < ${before} and status <> 'delivered' and status in ('pending', 'retrying', 'parked')`.execute(
    db,
  );
  return rows[0]?.at?.getTime() ?? Number.POSITIVE_INFINITY;
}
