import { MAX_ATTEMPTS } from "../contract.ts";

/** The limit of a wait that a receiver requests is at least this. */
const SHORTEST_LIMIT_MS = 60_000;

export interface RetryWait {
  scheduleMs: readonly number[];
  /** The receiver requests this wait. */
  requestedMs: number | undefined;
  longestWaitMs: number | undefined;
}

/**
 * The wait after attempt `attempt` (from 1): a step of the schedule ±20 % by `random` in [0, 1), or what the receiver
 * requests, from the step to its limit.
 */
export function waitAfter(
  attempt: number,
  { scheduleMs, requestedMs, longestWaitMs = Number.POSITIVE_INFINITY }: RetryWait,
  random: () => number,
): number {
  const stepMs = Math.min(stepAfter(scheduleMs, attempt), longestWaitMs);
  if (requestedMs === undefined) return Math.min(Math.round(stepMs * (0.8 + 0.4 * random())), longestWaitMs);
  return Math.min(Math.max(requestedMs, stepMs), limitOf(stepMs));
}

/** The longest duration of a delivery: all attempts, each with the longest wait a receiver may request. */
export function longestRetryScheduleMs(scheduleMs: readonly number[]): number {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, i) => limitOf(stepAfter(scheduleMs, i + 1)));
  return waits.reduce((sum, ms) => sum + ms, 0);
}

/** The last step of WAYGATE_RETRY_SCHEDULE repeats. */
function stepAfter(scheduleMs: readonly number[], attempt: number): number {
  return scheduleMs[Math.min(attempt, scheduleMs.length) - 1] ?? 0;
}

/** The longest wait that a receiver may request. */
function limitOf(stepMs: number): number {
  return Math.max(2 * stepMs, SHORTEST_LIMIT_MS);
}
