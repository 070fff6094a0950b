import { sql } from "kysely";
import type { Db, Trx } from "../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../platform/db/prepared-statement.ts";
import { type LaneEpoch, laneEpochKey, lockOwnedLanes } from "./lane-store.ts";

export interface NewJob {
  lane: number;
  /** 0 runs first; every tenth dispatch of a lane goes to its largest number. */
  prio: number;
  /** Order within `prio`. */
  pos: number;
  /** Jobs of one group run sequentially. */
  grp: string;
  /** Now by default. */
  run_at?: Date;
  max_attempts?: number | null;
  ref: Record<string, unknown>;
}

/** A due job after its commit. Its lane has, or was woken for, every earlier job of its group. */
export interface AddedJob extends Omit<NewJob, "run_at"> {
  id: number;
  run_at: Date;
}

const OWN_GROUP = "job:";

/** A group of one job. The database leaves it out until it is due, so that it uses no memory. */
export function singleJobGroup(id: string | number): string {
  return `${OWN_GROUP}${id}`;
}

/** Adds jobs in the caller's transaction; after the commit the caller must wake their lanes. */
export async function addJobs(trx: Db | Trx, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await sql`${PREPARED_STATEMENT}
    insert into job (lane, prio, pos, grp, run_at, max_attempts, ref)
    select lane, prio, pos, grp, coalesce(run_at, now()), max_attempts, ref
    from jsonb_to_recordset(${JSON.stringify(jobs)}::jsonb) as added
      (lane bigint, prio smallint, pos bigint, grp text, run_at timestamptz, max_attempts integer, ref jsonb)`.execute(
    trx,
  );
}

// Jobs to read now. A single-job group that is not due blocks no other job, so it is left out.
const DUE = sql`(run_at <= now() or grp not like ${sql.lit(`${OWN_GROUP}%`)})`;

/** What to read from one lane: its first `limit` rows by `(prio, pos)` outside the groups of `skip`. */
export interface FetchJobsQuery {
  lane: number;
  limit: number;
  skip: readonly string[];
  only: readonly string[] | null;
  /** Also read the first row of the largest `prio`, if it is the head of its group. */
  lowest: boolean;
}

export interface JobRow {
  id: number;
  lane: number;
  prio: number;
  pos: number;
  grp: string;
  run_at: Date;
  attempts: number;
  max_attempts: number | null;
  ref: unknown;
  /** Milliseconds until it is due, on the database's clock. */
  wait_ms: number;
  lowest: boolean;
}

const COLUMNS = sql`id, lane, prio, pos, grp, run_at, attempts, max_attempts, ref`;

/** Reads several lanes in one statement; the rows are unordered. */
export async function fetchJobs(db: Db, orders: readonly FetchJobsQuery[]): Promise<JobRow[]> {
  const outside = sql`lane = q.lane and grp <> all(q.skip) and (q.only is null or grp = any(q.only)) and ${DUE}`;
  const { rows } = await sql<JobRow>`${PREPARED_STATEMENT}
    select j.*, extract(epoch from j.run_at - now())::float8 * 1000 as wait_ms
    from (
      select * from jsonb_to_recordset(${JSON.stringify(orders)}::jsonb) as q
        (lane bigint, "limit" integer, skip text[], "only" text[], lowest boolean) ${rowCountHint(orders)}
    ) as q
    cross join lateral (${candidateJobs(outside, sql`q."limit"`, sql`q.lowest`)}) as j`.execute(db);
  return rows;
}

/**
 * Like `fetchJobs`, for one lane. The groups to skip are constants: PostgreSQL looks them up in a hash table.
 */
export async function fetchLaneJobs(db: Db, order: FetchJobsQuery): Promise<JobRow[]> {
  const only = order.only ? sql`and grp = any(${order.only}::text[])` : sql``;
  const outside = sql`lane = ${order.lane} and grp <> all(${order.skip}::text[]) ${only} and ${DUE}`;
  const { rows } = await sql<JobRow>`
    select j.*, extract(epoch from j.run_at - now())::float8 * 1000 as wait_ms
    from (${candidateJobs(outside, sql`${order.limit}::integer`, sql`${order.lowest}::boolean`)}) as j`.execute(
    db,
  );
  return rows;
}

type Fragment = ReturnType<typeof sql>;

function candidateJobs(outside: Fragment, limit: Fragment, lowest: Fragment): Fragment {
  return sql`
    (select ${COLUMNS}, false as lowest from job where ${outside} order by prio, pos limit ${limit})
    union all
    (select low.*, true from (
      select ${COLUMNS} from job
      where ${outside} and prio = (select prio from job where ${outside} order by prio desc, pos desc limit 1)
      order by pos limit 1
    ) as low
    where ${lowest} and not exists (
      select 1 from job as earlier
      where earlier.lane = low.lane and earlier.grp = low.grp and earlier.prio < low.prio
    ))`;
}

/** Returns the lanes that have at least one job to read. */
export async function findLanesWithJobs(db: Db, lanes: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`${PREPARED_STATEMENT}
    select id from (select * from unnest(${lanes}::bigint[]) as idle (id) ${rowCountHint(lanes)}) as idle
    where exists (select 1 from job where lane = idle.id and ${DUE})`.execute(db);
  return rows.map((row) => row.id);
}

/** Deletes jobs of deleted lanes: their transactions added them before they could see the deletion. */
export async function deleteOrphanedJobs(db: Db): Promise<void> {
  await sql`delete from job where not exists (select from lane where lane.id = job.lane)`.execute(db);
}

/** What to write for one job row, under the fence of its lane. */
export interface JobDisposition {
  job: number;
  lane: LaneEpoch;
  /** Null: the row is deleted. */
  retry: { delay_ms: number; attempts: number; grp: string } | null;
}

/** Writes the dispositions in one statement. Returns for each whether its lane is still owned, and so written. */
export async function writeJobDispositions(
  db: Db,
  node: string,
  dispositions: readonly JobDisposition[],
): Promise<boolean[]> {
  const claims = new Map(
    dispositions.map((disposition) => [laneEpochKey(disposition.lane), disposition.lane]),
  );
  const items = dispositions.map(({ job, lane, retry }) => ({
    job,
    lane: lane.id,
    epoch: lane.epoch,
    ...retry,
  }));
  const { rows } = await sql<LaneEpoch>`${PREPARED_STATEMENT}
    with owned as materialized (${lockOwnedLanes(node, [...claims.values()])}),
    disposition as materialized (
      select item.* from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as item
        (job bigint, lane bigint, epoch bigint, delay_ms float8, attempts integer, grp text)
      join owned on owned.id = item.lane and owned.epoch = item.epoch ${rowCountHint(items)}
    ),
    ended as (delete from job using disposition where job.id = disposition.job and disposition.grp is null),
    retried as (
      update job set attempts = disposition.attempts, grp = disposition.grp,
        run_at = now() + disposition.delay_ms * interval '1 millisecond'
      from disposition where job.id = disposition.job and disposition.grp is not null
    )
    select id, epoch from owned`.execute(db);
  const owned = new Set(rows.map(laneEpochKey));
  return dispositions.map((disposition) => owned.has(laneEpochKey(disposition.lane)));
}
