import type { Job } from "../../../engine/engine.ts";
import type { SendRow, UnknownOutcome } from "./submit-sends.ts";

/** With the usual times the third try on one connection ends after two minutes; a dead one is noticed in less than one. */
const LEAVES_CHAT_AFTER = 3;

export interface LostAckOptions {
  /** How long a send in doubt waits for a receipt before it is tried again. */
  doubtWaitMs: number;
  /** Networks whose silence is on purpose: a send is given up after so many tries without an acknowledgement. */
  mostUnconfirmed: Partial<Record<SendRow["network"], number>>;
}

/**
 * What happens after a try that the network did not confirm in time, while the connection lives. The same id goes out again
 * at once, so that the chat stands still no longer than one lost acknowledgement takes. After three such tries the fault
 * is with this message alone: it is tried on, and the rest of its chat no longer waits for it.
 */
export function retryAfterLostAck(job: Job, send: SendRow, options: LostAckOptions): UnknownOutcome {
  const unconfirmed = unconfirmedTries(job, send) + 1;
  const isFirst = unconfirmed === 1 && mayRetry(job, send, options);
  const leaves_chat = unconfirmed >= LEAVES_CHAT_AFTER;
  return { id: send.id, wait_ms: isFirst ? 0 : options.doubtWaitMs, unconfirmed, leaves_chat };
}

/** Whether it waits for no receipt: the first try on this connection was the only one. */
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

/** On the connection that there is now. */
function unconfirmedTries({ ref }: Pick<Job, "ref">, { is_reconnected }: SendRow): number {
  return is_reconnected ? 0 : unconfirmedOf(ref);
}

function unconfirmedOf(ref: unknown): number {
  return (ref as { unconfirmed?: number }).unconfirmed ?? 0;
}
