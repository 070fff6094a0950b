import type { Job } from "../../../../engine/engine.ts";
import type { SendRow, UnknownOutcome } from "../submit-sends.ts";

/**
 * With the default timeouts the third attempt on one connection ends after two minutes; a dead connection is
 * detected in less than one.
 */
const LEAVES_CHAT_AFTER = 3;

export interface LostAckOptions {
  /** How long a send with an unknown outcome waits for a receipt before it is retried. */
  doubtWaitMs: number;
  /**
   * Networks that withhold acknowledgements on purpose: a send fails after this many attempts without one.
   */
  mostUnconfirmed: Partial<Record<SendRow["network"], number>>;
}

/**
 * Decides what follows an attempt that the network did not acknowledge in time while the connection is alive.
 * The same id goes out again at once, so the chat pauses only for one lost acknowledgement. After three such
 * attempts the fault lies with this message alone: its retries continue, and its chat no longer waits for it.
 */
export function retryAfterLostAck(job: Job, send: SendRow, options: LostAckOptions): UnknownOutcome {
  const unconfirmed = unconfirmedTries(job, send) + 1;
  const isFirst = unconfirmed === 1 && mayRetry(job, send, options);
  const leaves_chat = unconfirmed >= LEAVES_CHAT_AFTER;
  return { id: send.id, wait_ms: isFirst ? 0 : options.doubtWaitMs, unconfirmed, leaves_chat };
}

/** Whether it skips the wait for a receipt: this connection has had only one attempt. */
export function isRetriedImmediately(job: Job, send: SendRow, options: LostAckOptions): boolean {
  return unconfirmedTries(job, send) === 1 && mayRetry(job, send, options);
}

/** Whether a send that may have reached the network may go out again under its id. */
export function mayRetry(
  { ref }: Pick<Job, "ref">,
  { network, on_unknown, origin, is_restricted, is_overdue }: SendRow,
  { mostUnconfirmed }: Pick<LostAckOptions, "mostUnconfirmed">,
): boolean {
  const isGivenUp = unconfirmedOf(ref) >= (mostUnconfirmed[network] ?? Number.POSITIVE_INFINITY);
  return on_unknown === "resend" && origin !== "campaign" && !is_restricted && !is_overdue && !isGivenUp;
}

/** On the current connection. */
function unconfirmedTries({ ref }: Pick<Job, "ref">, { is_reconnected }: SendRow): number {
  return is_reconnected ? 0 : unconfirmedOf(ref);
}

function unconfirmedOf(ref: unknown): number {
  return (ref as { unconfirmed?: number }).unconfirmed ?? 0;
}
