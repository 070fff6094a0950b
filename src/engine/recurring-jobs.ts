import { sql } from "kysely";
import type { Db, Trx } from "../platform/db/database.ts";
import type { Engine, Job, JobResult } from "./engine.ts";
import { addLane } from "./lane-store.ts";

/** Work that runs at an interval, once in the whole cluster. */
export interface RecurringJob {
  /** Identifies its row, across versions and nodes. */
  name: string;
  everyMs: number;
  /**
   * May run twice in rare cases, such as the death of a node. A throw is logged; the next run starts on time.
   */
  run(): Promise<unknown>;
}

const MAINTENANCE = "maintenance";
const JOBS_AT_ONCE = 4;
const UNKNOWN_AGAIN_MS = 600_000;

/** Recurring jobs without a leader: one lane has them all, and its owner runs them. */
export function registerRecurringJobs(
  engine: Pick<Engine, "register">,
  db: Db,
  jobs: readonly RecurringJob[],
): void {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  engine.register({
    kind: MAINTENANCE,
    role: "worker",
    laneConcurrency: JOBS_AT_ONCE,
    prepare: () => addRecurringJobs(db, jobs),
    run: (job) => runRecurringJob(byName.get(job.grp), job),
  });
}

/**
 * Moves the next run of a recurring job to now, on any node. After the commit: `wake(lanes, { changed: true })`, also of
 * a job that is due already: a node that was starting may have moved it without a wake.
 */
export async function runRecurringJobSoon(db: Db | Trx, name: string): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    update job set run_at = least(run_at, now()) from lane
    where lane.kind = ${MAINTENANCE} and job.lane = lane.id and job.grp = ${name}
    returning job.lane`.execute(db);
  return rows.map(({ lane }) => lane);
}

async function addRecurringJobs(db: Db, jobs: readonly RecurringJob[]): Promise<void> {
  const lane = await addLane(db, MAINTENANCE, MAINTENANCE);
  await db.transaction().execute(async (trx) => {
    // Nodes that start together would add every job twice, so they wait for a lock, longer than a batch may.
    await sql`set local lock_timeout = '30s'`.execute(trx);
    await sql`select pg_advisory_xact_lock(hashtext('waygate schedules'))`.execute(trx);
    for (const { name, everyMs } of jobs) {
      const latest = sql`now() + ${everyMs}::float8 * interval '1 millisecond'`;
      await sql`
        update job set run_at = ${latest} where lane = ${lane} and grp = ${name} and run_at > ${latest}`.execute(
        trx,
      );
      await sql`
        insert into job (lane, prio, pos, grp, ref)
        select ${lane}, 1, 0, ${name}::text, '{}'
        where not exists (select 1 from job where lane = ${lane} and grp = ${name})`.execute(trx);
    }
  });
}

async function runRecurringJob(recurring: RecurringJob | undefined, job: Job): Promise<JobResult> {
  // Another version of the program, on another node, may know it.
  if (!recurring) return { end: "retry", at: new Date(Date.now() + UNKNOWN_AGAIN_MS) };
  try {
    await recurring.run();
    return { end: "retry", at: nextRun(job, recurring) };
  } catch (error) {
    return { end: "retry", at: nextRun(job, recurring), error };
  }
}

// Keeps the interval of the first run; missed runs are skipped.
function nextRun(job: Job, { everyMs }: RecurringJob): Date {
  const missed = Math.max(0, Math.floor((Date.now() - job.run_at.getTime()) / everyMs));
  return new Date(job.run_at.getTime() + (missed + 1) * everyMs);
}
