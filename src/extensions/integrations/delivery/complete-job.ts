import type { Engine, Job, JobResult } from "../../../engine/engine.ts";
import type { NewJob } from "../../../engine/job-store.ts";
import { lockOwnedLanes } from "../../../engine/lane-store.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import type { Integration } from "../integration-row.ts";

/**
 * Ends a job in one commit with all its consequences, if this node still owns the lane. `write` returns the
 * lanes to wake, and records events last. It does not run for a job that an earlier try has ended, whose response was
 * lost.
 */
export async function completeJob(
  { db, engine }: { db: Db; engine: Engine },
  job: Job,
  write: (trx: Trx) => Promise<number[]>,
): Promise<JobResult> {
  const lanes = await retryUntilCommitted(engine, job.lane, () =>
    db.transaction().execute(async (trx) => {
      const { rows } = await lockOwnedLanes(engine.node.id, [job.lane]).execute(trx);
      if (rows.length === 0) return undefined;
      const { numDeletedRows } = await trx
        .deleteFrom("job")
        .where("id", "=", job.id)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n ? write(trx) : [];
    }),
  );
  if (!lanes) {
    engine.markLaneLost(job.lane.id);
    return { end: "committed" };
  }
  engine.wake(lanes);
  return { end: "committed", deleted: true };
}

export interface TaskOptions {
  /** The jobs that run sequentially: the chat. */
  grp: string;
  /** Position in the lane; a task with `first` runs before the events of its chat. */
  pos: number;
  first?: boolean;
  run_at?: Date;
  /** Whether it goes to the lane for inbound webhooks. */
  inbound?: boolean;
}

/** A provider's own job, for `addJobs`; it returns as the task of `onTask`. */
export function createTaskJob(
  { id, lane, inbound_lane }: Pick<Integration, "id" | "lane" | "inbound_lane">,
  task: Record<string, unknown>,
  { inbound = false, first = false, ...options }: TaskOptions,
): NewJob {
  if (inbound && inbound_lane === null) throw new Error("the integration has no lane for inbound events");
  return {
    ...options,
    lane: inbound && inbound_lane !== null ? inbound_lane : lane,
    prio: first ? 0 : 1,
    ref: { do: "task", integration: id, task },
  };
}
