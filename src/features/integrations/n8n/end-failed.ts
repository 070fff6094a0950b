import type { JobResult } from "../../../engine/engine.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import type { EventWork, IntegrationDeps } from "../integration-provider.ts";
import { countAttempt, type FailedRequest, type FailureKind, retryRequest } from "../retry-request.ts";
import { isResponseLost } from "./classify-workflow-response.ts";
import type { N8nConfig } from "./n8n-config.ts";

/** Each attempt may have run the workflow. */
const MOST_TRIES: Record<FailureKind, number> = { away: Number.POSITIVE_INFINITY, timeouts: 2, failures: 10 };
/** Then the rest of the chat no longer waits for an event that alone seems to fail. */
const PARK_AFTER = 3;
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

export interface WorkflowFailure extends FailedRequest {
  outcome: FetchOutcome;
}

/**
 * An event that fails alone lets the other events of its chat pass; while n8n is unreachable, all keep their
 * order.
 */
export async function endFailed(
  deps: IntegrationDeps,
  { job, event }: EventWork,
  config: N8nConfig,
  failure: WorkflowFailure,
): Promise<JobResult> {
  const { responseClass, isStale, isRefusal } = failure;
  const isOver = Date.now() - event.recorded_at.getTime() > GIVE_UP_AFTER_MS;
  if (!config.retry || isOver) return { end: "done" };
  if (isStale || isRefusal) return retryRequest(deps, job, failure);
  if (responseClass.class !== "retry") return { end: "done" };
  const kind = kindOf(failure.outcome, responseClass.isDown, config);
  const attempts = countAttempt(job, kind)[kind];
  if (attempts >= MOST_TRIES[kind]) return { end: "done" };
  const again = await retryRequest(deps, job, failure, kind);
  return { ...again, parkGroup: kind === "failures" && attempts >= PARK_AFTER };
}

/** A workflow whose response is lost runs again in each attempt, with all its effects. */
function kindOf(outcome: FetchOutcome, isDown: boolean, config: N8nConfig): FailureKind {
  if (isDown) return "away";
  return isResponseLost(outcome, config) ? "timeouts" : "failures";
}
