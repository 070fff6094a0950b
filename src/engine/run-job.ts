import { isDatabaseFull, isDatabaseUnavailable } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";
import { type JobDisposition, singleJobGroup } from "./job-store.ts";
import type { Job, JobResult, LaneKind } from "./lane-kind.ts";

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 300_000;

/** Result of one attempt. `untried`: the database became unavailable or full, so the attempt does not count. */
export type JobRunResult = JobResult | { end: "untried"; isHealthy?: undefined; pauseLaneMs?: undefined };

/** Runs one job; a throw is a bug, logged in full and turned into a retry. */
export async function runJob(kind: LaneKind, job: Job, log: Log): Promise<JobRunResult> {
  const about = { lane_kind: kind.kind, lane_key: job.lane.key, job_id: job.id, attempts: job.attempts + 1 };
  try {
    const end = await kind.run(job);
    if (end.end === "retry" && end.error !== undefined)
      log.error({ ...about, err: end.error }, "a job failed");
    if (end.end !== "retry" || !isLastAttempt(job)) return end;
    return { ...end, end: "give_up", reason: "all its attempts have failed" };
  } catch (error) {
    if (isDatabaseUnavailable(error) || isDatabaseFull(error)) return { end: "untried" };
    log.error({ ...about, err: error }, "a job threw; it will be retried");
    return afterThrow(job);
  }
}

// Never abandoned, since the request was accepted. After its last attempt only the rest of its group moves on.
function afterThrow(job: Job): JobResult {
  const delayMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(job.attempts, 20));
  const at = new Date(Date.now() + delayMs);
  return { end: "retry", at, isHealthy: false, parkGroup: isLastAttempt(job) };
}

function isLastAttempt(job: Job): boolean {
  return job.max_attempts !== null && job.attempts + 1 >= job.max_attempts;
}

/** What the engine must write for this result, if anything. */
export function dispositionOf(job: Job, result: JobRunResult): JobDisposition | undefined {
  if (result.end === "settled" || result.end === "untried") return undefined;
  if (result.end !== "retry") return { job: job.id, lane: job.lane, retry: null };
  const grp = result.parkGroup ? singleJobGroup(job.id) : job.grp;
  return {
    job: job.id,
    lane: job.lane,
    retry: { delay_ms: millisecondsUntil(result.at), attempts: job.attempts + 1, grp },
  };
}

/** Milliseconds from now, never below zero. */
export function millisecondsUntil(at: Date): number {
  return Math.max(0, at.getTime() - Date.now());
}
