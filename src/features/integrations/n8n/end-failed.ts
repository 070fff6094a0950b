import type { JobEnd } from "../../../engine/engine.ts";
import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
import { retryDelayMs } from "../error-policy.ts";
import type { CallNote } from "../health.ts";
import type { EventWork, IntegrationDeps } from "../provider.ts";
import type { N8nConfig } from "./config.ts";
import { isAnswerLost } from "./judge-workflow.ts";
import { type FailureKind, readTries, recordTries } from "./tries.ts";

/** Each may have run the workflow, as far as the gateway can know. */
const MOST_TRIES: Record<FailureKind, number> = { away: Number.POSITIVE_INFINITY, timeouts: 2, failures: 10 };
/** Then the rest of the chat no longer waits for an event that only this one seems to fail with. */
const PARK_AFTER = 3;
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const STALE_WAIT_MS = 1_000;

export interface Failure extends CallNote {
  outcome: FetchOutcome;
  isRefusal: boolean;
}

/** What fails for this event alone lets the others of its chat pass; while nobody is served they all keep their order. */
export async function endFailed(
  deps: IntegrationDeps,
  { job, event }: EventWork,
  config: N8nConfig,
  failure: Failure,
): Promise<JobEnd> {
  const { verdict, isStale, isRefusal, refusedWaitMs, longestWaitMs } = failure;
  const isOver = Date.now() - event.recorded_at.getTime() > GIVE_UP_AFTER_MS;
  if (!config.retry || isOver) return { end: "done" };
  if (isStale) return { end: "retry", at: inMs(STALE_WAIT_MS) };
  if (isRefusal) return { end: "retry", at: inMs(refusedWaitMs) };
  if (verdict.verdict !== "retry") return { end: "done" };
  const kind = kindOf(failure.outcome, verdict.isDown, config);
  const tries = { ...readTries(job) };
  tries[kind] += 1;
  if (tries[kind] >= MOST_TRIES[kind]) return { end: "done" };
  await recordTries(deps, job, tries);
  const waitMs = Math.min(retryDelayMs(tries[kind], undefined), longestWaitMs);
  return {
    end: "retry",
    at: inMs(Math.max(waitMs, verdict.retryAfterMs ?? 0)),
    parkGroup: kind === "failures" && tries.failures >= PARK_AFTER,
  };
}

/** A workflow whose answer is lost runs again at each try, with all that it does. */
function kindOf(outcome: FetchOutcome, isDown: boolean, config: N8nConfig): FailureKind {
  if (isDown) return "away";
  return isAnswerLost(outcome, config) ? "timeouts" : "failures";
}

function inMs(ms: number): Date {
  return new Date(Date.now() + ms);
}
