import { sql } from "kysely";
import type { Db, Trx } from "../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../platform/db/prepared-statement.ts";
import { type LaneEpoch, laneEpochKey, lockOwnedLanes } from "./lane-epoch.ts";

export interface NewJob {
  lane: number;
  /** 0 goes first; every tenth pick of a lane goes to the largest number there is. */
  prio: number;
  /** Order within `prio`. */
  pos: number;
  /** Jobs of one group run one after the other. */
  grp: string;
  /** At once unless said. */
  run_at?: Date;
  max_attempts?: number | null;
  ref: Record<string, unknown>;
}

const OWN_GROUP = "job:";

/** A group of one job only: while it is not due the database leaves it out, so that it costs no memory. */
export function singleJobGroup(id: string | number): string {
  return `${OWN_GROUP}${id}`;
}

/** Adds jobs in the caller's transaction; after the commit the caller wakes their lanes. */
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

// What may be taken into account now; a row of a group of its own that is not due holds up nobody.
const DUE = sql`(run_at <= now() or grp not like ${sql.lit(`${OWN_GROUP}%`)})`;

/** What is wanted from one lane: its first `limit` rows by `(prio, pos)` outside the groups of `skip`. */
export interface FetchJobsQuery {
  lane: number;
  limit: number;
  skip: readonly string[];
  only: readonly string[] | null;
  /** Also the first row of the largest `prio`, where it is the head of its group. */
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

/** Reads several lanes in one statement; the rows come in no order. */
export async function fetchJobs(db: Db, orders: readonly FetchJobsQuery[]): Promise<JobRow[]> {
  const outside = sql`lane = q.lane and grp <> all(q.skip) and (q.only is null or grp = any(q.only)) and ${DUE}`;
  const { rows } = await sql<JobRow>`${PREPARED_STATEMENT}
    select j.*, extract(epoch from j.run_at - now())::float8 * 1000 as wait_ms
    from jsonb_to_recordset(${JSON.stringify(orders)}::jsonb) as q
      (lane bigint, "limit" integer, skip text[], "only" text[], lowest boolean)
    cross join lateral (${wanted(outside, sql`q."limit"`, sql`q.lowest`)}) as j`.execute(db);
  return rows;
}

/** As `readJobs`, of one lane: the groups to skip are constants here, which PostgreSQL looks up in a hash table. */
export async function fetchLaneJobs(db: Db, order: FetchJobsQuery): Promise<JobRow[]> {
  const only = order.only ? sql`and grp = any(${order.only}::text[])` : sql``;
  const outside = sql`lane = ${order.lane} and grp <> all(${order.skip}::text[]) ${only} and ${DUE}`;
  const { rows } = await sql<JobRow>`
    select j.*, extract(epoch from j.run_at - now())::float8 * 1000 as wait_ms
    from (${wanted(outside, sql`${order.limit}::integer`, sql`${order.lowest}::boolean`)}) as j`.execute(db);
  return rows;
}

type Fragment = ReturnType<typeof sql>;

function wanted(outside: Fragment, limit: Fragment, lowest: Fragment): Fragment {
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

/** Those of the lanes that have a job to look at. */
export async function findLanesWithJobs(db: Db, lanes: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`${PREPARED_STATEMENT}
    select id from unnest(${lanes}::bigint[]) as idle (id)
    where exists (select 1 from job where lane = idle.id and ${DUE})`.execute(db);
  return rows.map((row) => row.id);
}

/** Removes jobs whose lane is gone: whoever added them did not know it yet. */
export async function deleteOrphanedJobs(db: Db): Promise<void> {
  await sql`delete from job where not exists (select from lane where lane.id = job.lane)`.execute(db);
}

/** The fate of one job row, to be written under the fence of its lane. */
export interface JobDisposition {
  job: number;
  lane: LaneEpoch;
  /** Null: the row is deleted. */
  again: { delay_ms: number; attempts: number; grp: string } | null;
}

/** Writes the fates in one statement; answers per fate whether its lane was still held, else nothing was written. */
export async function writeJobDispositions(
  db: Db,
  node: string,
  fates: readonly JobDisposition[],
): Promise<boolean[]> {
  const claims = new Map(fates.map((fate) => [laneEpochKey(fate.lane), fate.lane]));
  const items = fates.map(({ job, lane, again }) => ({ job, lane: lane.id, epoch: lane.epoch, ...again }));
  const { rows } = await sql<LaneEpoch>`${PREPARED_STATEMENT}
    with held as materialized (${lockOwnedLanes(node, [...claims.values()])}),
    fate as materialized (
      select item.* from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as item
        (job bigint, lane bigint, epoch bigint, delay_ms float8, attempts integer, grp text)
      join held on held.id = item.lane and held.epoch = item.epoch ${rowCountHint(items)}
    ),
    ended as (delete from job using fate where job.id = fate.job and fate.grp is null),
    retried as (
      update job set attempts = fate.attempts, grp = fate.grp,
        run_at = now() + fate.delay_ms * interval '1 millisecond'
      from fate where job.id = fate.job and fate.grp is not null
    )
    select id, epoch from held`.execute(db);
  const held = new Set(rows.map(laneEpochKey));
  return fates.map((fate) => held.has(laneEpochKey(fate.lane)));
}
