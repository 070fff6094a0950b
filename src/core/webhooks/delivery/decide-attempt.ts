import type { DeliveryOutcome } from "../destinations/destination.ts";
import { isN8nStartingUp } from "./is-n8n-starting-up.ts";
import { requestedDelayMs, retryDelayMs } from "./retry-schedule.ts";

/** What follows an attempt. */
export type AttemptDecision =
  | { decision: "delivered" }
  /** `pauseLane`: the receiver requested a pause, which also delays its other events. */
  | { decision: "retry"; delayMs: number; pauseLane: boolean }
  /** `isGone`: the receiver no longer accepts events. */
  | { decision: "failed"; reason: string; isGone: boolean };

export interface RetryPlan {
  /** Delays after the first, second, ... failure; after the last entry, that entry repeats. */
  scheduleMs: readonly number[];
  retryEnabled: boolean;
  maxAttempts: number;
}

/** Decides what follows attempt `attempt` (from 1); `random` in [0, 1) spreads retries by ±20 %. */
export function decideAttempt(
  outcome: DeliveryOutcome,
  attempt: number,
  plan: RetryPlan,
  random: () => number = Math.random,
): AttemptDecision {
  if (isSuccess(outcome)) return { decision: "delivered" };
  const isGone = outcome.outcome === "response" && outcome.status === 410;
  const allowed = plan.retryEnabled ? plan.maxAttempts : 1;
  if (isGone || attempt >= allowed) return { decision: "failed", reason: describeFailure(outcome), isGone };
  const requestedMs = readRetryAfterMs(outcome);
  if (requestedMs === undefined)
    return { decision: "retry", delayMs: retryDelayMs(plan.scheduleMs, attempt, random), pauseLane: false };
  return {
    decision: "retry",
    delayMs: requestedDelayMs(plan.scheduleMs, attempt, requestedMs),
    pauseLane: true,
  };
}

/** A broker's confirmation, or a 2xx response, except that of an n8n that starts and discards the event. */
export function isSuccess(outcome: DeliveryOutcome): boolean {
  if (outcome.outcome === "accepted") return true;
  const isOk = outcome.outcome === "response" && outcome.status >= 200 && outcome.status < 300;
  return isOk && !isN8nStartingUp(outcome);
}

/** Describes the failure in one sentence for logs and lists. */
export function describeFailure(outcome: DeliveryOutcome): string {
  if (isN8nStartingUp(outcome)) return "n8n was starting, so it responded with 200 and discarded the event.";
  return outcome.outcome === "failed" ? outcome.error : `The receiver responded with ${statusOf(outcome)}.`;
}

/** The status of an HTTP response; null without one. */
export function statusOf(outcome: DeliveryOutcome): number | null {
  return outcome.outcome === "response" ? outcome.status : null;
}

/** A rejection that a retry will hardly change counts double in the circuit breaker. */
export function failureWeightOf(outcome: DeliveryOutcome): 1 | 2 {
  if (outcome.outcome === "failed" && outcome.failure === "rejected") return 2;
  if (outcome.outcome !== "response" || outcome.status < 400 || outcome.status >= 500) return 1;
  return [408, 409, 425, 429].includes(outcome.status) ? 1 : 2;
}

/** Seconds or a date; applies only to 429 and 503. */
function readRetryAfterMs(outcome: DeliveryOutcome): number | undefined {
  if (outcome.outcome !== "response" || (outcome.status !== 429 && outcome.status !== 503)) return undefined;
  const header = outcome.headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : at - Date.now();
}
