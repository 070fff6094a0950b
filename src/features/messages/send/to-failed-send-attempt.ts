import type { Job } from "../../../engine/engine.ts";
import { SEND_ERROR, type SendError, undelivered } from "./send-error.ts";
import type { FailedSendAttempt, SendRow } from "./submit-sends.ts";

/** Before the second try and each one after it; the fifth is the last, and of one that has waited long the second. */
const WAITS_MS = [2_000, 10_000, 60_000, 300_000] as const;

/** One more try that did not reach the wire while the session was connected, and how long the next one waits. */
export function toFailedSendAttempt(
  { ref }: Pick<Job, "ref">,
  { id, submitted_at, is_stale }: Pick<SendRow, "id" | "submitted_at" | "is_stale">,
): FailedSendAttempt {
  const tries = ((ref as { tries?: number }).tries ?? 0) + 1;
  const waitMs = is_stale && tries > 1 ? undefined : WAITS_MS[tries - 1];
  // A fifth more or less by chance, so that what failed together does not come back together.
  const wait_ms = waitMs && waitMs * (0.8 + 0.4 * Math.random());
  return { message: id, is_doubtful: submitted_at !== null, tries, wait_ms };
}

/** Why a send ends with its last try. */
export function lastAttemptError({ is_doubtful, tries }: FailedSendAttempt, reason: string): SendError {
  return is_doubtful ? SEND_ERROR.unknownOutcome : undelivered(tries, reason);
}
