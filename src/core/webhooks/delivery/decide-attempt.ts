import type { AttemptFailure } from "./attempt-failure.ts";
import { waitAfter } from "./retry-schedule.ts";

/** What follows an attempt. */
export type AttemptDecision =
  | { decision: "delivered" }
  /** `pauseLane`: the receiver requested a pause, which also delays its other events. */
  | { decision: "retry"; delayMs: number; pauseLane: boolean }
  /** `isGone`: the receiver no longer accepts events. */
  | { decision: "failed"; isGone: boolean };

export interface RetryPlan {
  /** Delays after the first, second, ... failure; after the last entry, that entry repeats. */
  scheduleMs: readonly number[];
  maxAttempts: number;
  /** Rejected requests are repeated too: their receiver may be corrected meanwhile. */
  retriesRejected?: boolean;
  /** The longest step of the schedule; default: all of it. */
  longestWaitMs?: number;
}

/** Other events of the chat no longer wait for one that has failed so often. */
export const PARK_AFTER_FAILURES = 3;

/** Decides what follows attempt `attempt` (from 1); `random` in [0, 1) spreads retries by ±20 %. */
export function decideAttempt(
  failure: AttemptFailure | undefined,
  attempt: number,
  { scheduleMs, maxAttempts, retriesRejected = false, longestWaitMs }: RetryPlan,
  random: () => number = Math.random,
): AttemptDecision {
  if (!failure) return { decision: "delivered" };
  const { final, requestedMs, isDown = false } = failure;
  const isGone = final === "gone";
  if (isGone || (final && !retriesRejected) || attempt >= maxAttempts) return { decision: "failed", isGone };
  const delayMs = waitAfter(attempt, { scheduleMs, requestedMs, longestWaitMs }, random);
  return { decision: "retry", delayMs, pauseLane: isDown && requestedMs !== undefined };
}
