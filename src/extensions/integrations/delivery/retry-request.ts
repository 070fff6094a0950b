import { sql } from "kysely";
import { z } from "zod";
import { decideAttempt, PARK_AFTER_FAILURES } from "../../../core/webhooks/webhooks.ts";
import type { Engine, Job, JobResult } from "../../../engine/engine.ts";
import { lockOwnedLanes } from "../../../engine/lane-store.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { HealthUpdate } from "./integration-health.ts";

/** `away`: the service was unreachable; `timeouts`: no response in time; `failures`: everything else. */
export type FailureKind = "away" | "timeouts" | "failures";

/** A failed request, as `recordResponse` of the integration's health returns it. */
export interface FailedRequest extends HealthUpdate {
  /** The other side rejects every request until a user changes something. */
  isRefusal?: boolean;
}

/** How a provider counts the attempts of a job. */
interface AttemptLimit {
  kind?: FailureKind;
  /** Default: the provider ends the job by its age. */
  maxAttempts?: number;
  /** The rest of the chat no longer waits for a job that fails alone. */
  isParked?: boolean;
}

const REPLACED_WAIT_MS = 1_000;
const SCHEDULE_MS = [2_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000];

const count = z.number().int().nonnegative().catch(0);
const ref = z.object({ tries: z.object({ away: count, timeouts: count, failures: count }) });

/**
 * Retries the failed request, or ends its job after the last attempt; each kind of failure has its own count, so an
 * unreachable service uses up no other attempts. A request under a replaced configuration is repeated with the new one at
 * once, and a rejected one waits for a user; neither counts.
 */
export async function retryRequest(
  deps: { db: Db; engine: Engine },
  job: Job,
  { failure, isStale, isRefusal = false, rejectedWaitMs, longestWaitMs }: FailedRequest,
  {
    kind = failure?.isDown ? "away" : "failures",
    maxAttempts = Infinity,
    isParked = false,
  }: AttemptLimit = {},
): Promise<JobResult> {
  if (isStale) return retryIn(REPLACED_WAIT_MS);
  if (isRefusal) return retryIn(rejectedWaitMs);
  const before = ref.safeParse(job.ref).data?.tries ?? { away: 0, timeouts: 0, failures: 0 };
  const attempt = before[kind] + 1;
  const plan = { scheduleMs: SCHEDULE_MS, maxAttempts, longestWaitMs };
  const decision = decideAttempt(failure, attempt, plan);
  if (decision.decision !== "retry") return { end: "done" };
  await recordAttempts(deps, job, { ...before, [kind]: attempt });
  return {
    ...retryIn(decision.delayMs),
    ...(decision.pauseLane && { pauseLaneMs: decision.delayMs }),
    parkGroup: isParked && kind === "failures" && attempt >= PARK_AFTER_FAILURES,
  };
}

function retryIn(ms: number): JobResult {
  return { end: "retry", at: new Date(Date.now() + ms) };
}

/** Writes nothing if the lane is lost. */
async function recordAttempts(
  { db, engine }: { db: Db; engine: Engine },
  { id, lane }: Job,
  attempts: Record<FailureKind, number>,
): Promise<void> {
  await sql`
    with owned as (${lockOwnedLanes(engine.node.id, [lane])})
    update job set ref = job.ref || ${JSON.stringify({ tries: attempts })}::jsonb
    where id = ${id} and exists (select from owned)`.execute(db);
}
