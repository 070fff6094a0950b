import { sql } from "kysely";
import { z } from "zod";
import type { Job, JobResult } from "../../../engine/engine.ts";
import { lockOwnedLanes } from "../../../engine/lane-store.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import { retryDelayMs } from "./classify-response.ts";
import type { HealthUpdate } from "./integration-health.ts";

/** `away`: the service was unreachable; `timeouts`: no response in time; `failures`: everything else. */
export type FailureKind = "away" | "timeouts" | "failures";
export type AttemptCounts = Record<FailureKind, number>;

/** A failed request, as `recordResponse` of the integration's health returns it. */
export interface FailedRequest extends HealthUpdate {
  /** The other side rejects every request until a user changes something. */
  isRefusal?: boolean;
}

const REPLACED_WAIT_MS = 1_000;

const count = z.number().int().nonnegative().catch(0);
const ref = z.object({ tries: z.object({ away: count, timeouts: count, failures: count }) });

/** How often a job has failed, by kind of failure: an unreachable service uses up no other attempts. */
export function countAttempt({ ref: saved }: Pick<Job, "ref">, kind: FailureKind): AttemptCounts {
  const attempts = ref.safeParse(saved).data?.tries ?? { away: 0, timeouts: 0, failures: 0 };
  return { ...attempts, [kind]: attempts[kind] + 1 };
}

/**
 * Retries the failed request. A request under a replaced configuration is repeated with the new one at once,
 * and a rejected one waits for a user; neither counts as an attempt.
 */
export async function retryRequest(
  deps: Pick<IntegrationDeps, "db" | "engine">,
  job: Job,
  failed: FailedRequest,
  kind: FailureKind = isUnreachable(failed) ? "away" : "failures",
): Promise<Extract<JobResult, { end: "retry" }>> {
  const { responseClass, isStale, isRefusal = false, rejectedWaitMs, longestWaitMs } = failed;
  if (isStale) return retryIn(REPLACED_WAIT_MS);
  if (isRefusal) return retryIn(rejectedWaitMs);
  const attempts = countAttempt(job, kind);
  await recordAttempts(deps, job, attempts);
  const retryAfterMs = responseClass.class === "retry" ? (responseClass.retryAfterMs ?? 0) : 0;
  return retryIn(Math.max(Math.min(retryDelayMs(attempts[kind], undefined), longestWaitMs), retryAfterMs));
}

function isUnreachable({ responseClass }: FailedRequest): boolean {
  return responseClass.class === "retry" && responseClass.isDown;
}

function retryIn(ms: number): Extract<JobResult, { end: "retry" }> {
  return { end: "retry", at: new Date(Date.now() + ms) };
}

/** Writes nothing if the lane is lost. */
async function recordAttempts(
  { db, engine }: Pick<IntegrationDeps, "db" | "engine">,
  { id, lane }: Job,
  attempts: AttemptCounts,
): Promise<void> {
  await sql`
    with owned as (${lockOwnedLanes(engine.node.id, [lane])})
    update job set ref = job.ref || ${JSON.stringify({ tries: attempts })}::jsonb
    where id = ${id} and exists (select from owned)`.execute(db);
}
