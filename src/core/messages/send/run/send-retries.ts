import type { Job } from "../../../../engine/engine.ts";
import type { SendError } from "../../../../platform/send-reasons.ts";
import { SEND_ERROR, undelivered } from "../send-error.ts";
import type { FailedSendAttempt, SendRow, UnknownOutcome } from "../submit-sends.ts";

/**
 * Waits before the second and each later attempt. The fifth attempt is the last; for a send that has waited
 * long, the second is.
 */
const WAITS_MS = [2_000, 10_000, 60_000, 300_000] as const;

/** One more attempt that did not reach the network on a connected session, and the wait for the next one. */
export function toFailedSendAttempt(
  { ref }: Pick<Job, "ref">,
  { id, submitted_at, is_stale }: Pick<SendRow, "id" | "submitted_at" | "is_stale">,
): FailedSendAttempt {
  const attempts = ((ref as { tries?: number }).tries ?? 0) + 1;
  const waitMs = is_stale && attempts > 1 ? undefined : WAITS_MS[attempts - 1];
  // Random jitter of 20 % spreads the retries of sends that failed together.
  const wait_ms = waitMs && waitMs * (0.8 + 0.4 * Math.random());
  return { message: id, is_outcome_unknown: submitted_at !== null, attempts, wait_ms };
}

/** The error after the last attempt. */
export function lastAttemptError(
  { is_outcome_unknown, attempts }: FailedSendAttempt,
  reason: string,
): SendError {
  return is_outcome_unknown ? SEND_ERROR.unknownOutcome : undelivered(attempts, reason);
}

/** With the default timeouts, three attempts last two minutes; a dead connection is detected within one. */
const FREES_CHAT_AFTER = 3;

export interface RetryOptions {
  /** How long a send with an unknown outcome waits for a receipt before it is retried. */
  unknownOutcomeWaitMs: number;
  /** For networks that withhold acknowledgements on purpose: a send fails after this many attempts. */
  mostUnconfirmed: Partial<Record<SendRow["network"], number>>;
}

/**
 * Decides what follows an attempt without timely acknowledgement on a live connection. The same id goes out
 * again at once, so the chat pauses only for one lost acknowledgement. After three such attempts only this
 * message is at fault: its retries continue, and its chat no longer waits.
 */
export function retryAfterLostAck(
  job: Job,
  send: SendRow,
  options: RetryOptions,
): Omit<UnknownOutcome, "id"> {
  const unconfirmed = unconfirmedTries(job, send) + 1;
  const isFirst = unconfirmed === 1 && mayRetry(job, send, options);
  const frees_chat = unconfirmed >= FREES_CHAT_AFTER;
  return { wait_ms: isFirst ? 0 : options.unknownOutcomeWaitMs, unconfirmed, frees_chat };
}

/** Whether it skips the wait for a receipt: this connection has had only one attempt. */
export function isRetriedImmediately(job: Job, send: SendRow, options: RetryOptions): boolean {
  return unconfirmedTries(job, send) === 1 && mayRetry(job, send, options);
}

/** Whether a send with an unknown outcome may go out again under its id. */
export function mayRetry(
  { ref }: Pick<Job, "ref">,
  { network, on_unknown, origin, is_restricted, is_overdue }: SendRow,
  { mostUnconfirmed }: Pick<RetryOptions, "mostUnconfirmed">,
): boolean {
  const isGivenUp = unconfirmedOf(ref) >= (mostUnconfirmed[network] ?? Number.POSITIVE_INFINITY);
  return on_unknown === "resend" && origin !== "campaign" && !is_restricted && !is_overdue && !isGivenUp;
}

/** Counts attempts on the current connection. */
function unconfirmedTries({ ref }: Pick<Job, "ref">, { is_reconnected }: SendRow): number {
  return is_reconnected ? 0 : unconfirmedOf(ref);
}

function unconfirmedOf(ref: unknown): number {
  return (ref as { unconfirmed?: number }).unconfirmed ?? 0;
}
