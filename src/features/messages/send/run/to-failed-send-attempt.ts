import type { Job } from "../../../../engine/engine.ts";
import { SEND_ERROR, type SendError, undelivered } from "../send-error.ts";
import type { FailedSendAttempt, SendRow } from "../submit-sends.ts";

/**
 * Waits before the second and each later attempt. The fifth attempt is the last; for a send that has waited
 * long, the second is.
 */
const WAITS_MS = [2_000, 10_000, 60_000, 300_000] as const;

/**
 * One more attempt that did not reach the network while the session was connected, and the wait for the next
 * one.
 */
export function toFailedSendAttempt(
  { ref }: Pick<Job, "ref">,
  { id, submitted_at, is_stale }: Pick<SendRow, "id" | "submitted_at" | "is_stale">,
): FailedSendAttempt {
  const tries = ((ref as { tries?: number }).tries ?? 0) + 1;
  const waitMs = is_stale && tries > 1 ? undefined : WAITS_MS[tries - 1];
  // Random jitter of 20 %, so that sends that failed together are not retried together.
  const wait_ms = waitMs && waitMs * (0.8 + 0.4 * Math.random());
  return { message: id, is_doubtful: submitted_at !== null, tries, wait_ms };
}

/** The error of a send that ends with its last attempt. */
export function lastAttemptError({ is_doubtful, tries }: FailedSendAttempt, reason: string): SendError {
  return is_doubtful ? SEND_ERROR.unknownOutcome : undelivered(tries, reason);
}
