import { sql } from "kysely";
import type { Db, Trx } from "../platform/db/database.ts";
import type { Engine, Job, JobResult } from "./engine.ts";
import { addLane } from "./lane-store.ts";

export interface Schedule {
  /** Identifies its row, across versions and nodes. */
  name: string;
  everyMs: number;
  /**
   * May run twice in rare cases, such as the death of a node. A throw is logged; the next run starts on time.
   */
  run(): Promise<unknown>;
}

const UPKEEP = "upkeep";
const SCHEDULES_AT_ONCE = 4;
const UNKNOWN_AGAIN_MS = 600_000;

/** Schedules without a leader: one lane with one job per schedule, run by the lane's owner. */
export function createSchedules(
  engine: Pick<Engine, "register">,
  db: Db,
  schedules: readonly Schedule[],
): void {
  const byName = new Map(schedules.map((schedule) => [schedule.name, schedule]));
  engine.register({
    kind: UPKEEP,
    role: "worker",
    laneConcurrency: SCHEDULES_AT_ONCE,
    prepare: () => addSchedules(db, schedules),
    run: (job) => runSchedule(byName.get(job.grp), job),
  });
}

/** Moves the next run of a schedule to now, on any node. After the commit: `wake(lanes, { changed: true })`. */
export async function runScheduleSoon(db: Db | Trx, name: string): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    update job set run_at = now() from lane
    where lane.kind = ${UPKEEP} and job.lane = lane.id and job.grp = ${name} and job.run_at > now()
    returning job.lane`.execute(db);
  return rows.map(({ lane }) => lane);
}

async function addSchedules(db: Db, schedules: readonly Schedule[]): Promise<void> {
  const lane = await addLane(db, UPKEEP, UPKEEP);
  await db.transaction().execute(async (trx) => {
    // Nodes that start together would add every job twice, so they wait for a lock, longer than a batch may.
    await sql`set local lock_timeout = '30s'`.execute(trx);
    await sql`select pg_advisory_xact_lock(hashtext('waygate schedules'))`.execute(trx);
    for (const { name, everyMs } of schedules) {
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

async function runSchedule(schedule: Schedule | undefined, job: Job): Promise<JobResult> {
  // Another version of the program, on another node, may know it.
  if (!schedule) return { end: "retry", at: new Date(Date.now() + UNKNOWN_AGAIN_MS) };
  try {
    await schedule.run();
    return { end: "retry", at: nextRun(job, schedule) };
  } catch (error) {
    return { end: "retry", at: nextRun(job, schedule), error };
  }
}

// Keeps the interval of the first run; missed runs are skipped.
function nextRun(job: Job, { everyMs }: Schedule): Date {
  const missed = Math.max(0, Math.floor((Date.now() - job.run_at.getTime()) / everyMs));
  return new Date(job.run_at.getTime() + (missed + 1) * everyMs);
}
