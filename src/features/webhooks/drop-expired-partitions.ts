import { sql } from "kysely";
import { type Db, readDatabaseTime } from "../../platform/db/database.ts";
import { dropPartitionsBefore, PARTITIONED } from "../../platform/db/partitions.ts";
import type { Log } from "../../platform/log/log.ts";
import { longestScheduleMs } from "./decide-attempt.ts";

export interface RetentionOptions {
  retentionMs: number;
  retryScheduleMs: readonly number[];
  log: Log;
}

/** What the next try of a delivery needs. */
const DELIVERED = ["event", "delivery"] as const;
const OTHERS = PARTITIONED.filter((table) => !DELIVERED.some((one) => one === table));
const DAY_MS = 86_400_000;

/**
 * Drops the days that are older than the retention, by the clock of the database, since ours may be wrong. Events stay
 * until none that is as old waits for a try any more, at most for as long as a plan of tries can last. Answers with the
 * names of what was dropped.
 */
export async function dropExpiredPartitions(
  db: Db,
  { retentionMs, retryScheduleMs, log }: RetentionOptions,
): Promise<string[]> {
  const limit = (await readDatabaseTime(db)).getTime() - retentionMs;
  const earliest = Math.floor((limit - longestScheduleMs(retryScheduleMs)) / DAY_MS) * DAY_MS;
  const waiting = await findOldestWaiting(db, new Date(limit));
  if (waiting < earliest) {
    log.warn(
      "deliveries are dropped that still wait: older than WAYGATE_RETENTION and the longest plan of tries",
    );
  }
  // Not the days between alone: a replay by `sequence` would have holes.
  const eventLimit = Math.max(earliest, Math.min(limit, waiting));
  return [
    ...(await dropPartitionsBefore(db, new Date(limit), OTHERS)),
    ...(await dropPartitionsBefore(db, new Date(eventLimit), DELIVERED)),
  ];
}

/** The time of the oldest event that is to be tried again; infinite where there is none. */
async function findOldestWaiting(db: Db, before: Date): Promise<number> {
  // Said twice for the index, which has what is not delivered.
  const { rows } = await sql<{ at: Date | null }>`
    select min(created_at) as at from delivery
    where created_at < ${before} and status <> 'delivered' and status in ('pending', 'retrying', 'parked')`.execute(
    db,
  );
  return rows[0]?.at?.getTime() ?? Number.POSITIVE_INFINITY;
}
