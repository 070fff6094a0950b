import type { Job } from "../../engine/engine.ts";
import type { Doubt, SendRow } from "./submit-send.ts";

/** With the usual times the third try on one connection ends after two minutes; a dead one is noticed in less than one. */
const LEAVES_CHAT_AFTER = 3;
/** Then a test against the sandbox has its outcome, after minutes and not after the whole hold time. */
const SANDBOX_TRIES = 2;

/**
 * What happens after a try that the network did not confirm in time, while the connection lives. The same id goes out again
 * at once, so that the chat stands still no longer than one lost acknowledgement takes. After three such tries the fault
 * is with this message alone: it is tried on, and the rest of its chat no longer waits for it.
 */
export function afterLostAck(job: Job, send: SendRow, doubtWaitMs: number): Doubt {
  const unconfirmed = unconfirmedTries(job, send) + 1;
  const isFirst = unconfirmed === 1 && mayRepeat(job, send);
  const leaves_chat = unconfirmed >= LEAVES_CHAT_AFTER;
  return { id: send.id, wait_ms: isFirst ? 0 : doubtWaitMs, unconfirmed, leaves_chat };
}

/** Whether it waits for no receipt: the first try on this connection was the only one. */
export function isRepeatedAtOnce(job: Job, send: SendRow): boolean {
  return unconfirmedTries(job, send) === 1 && mayRepeat(job, send);
}

/** Whether a send that may have reached the network may go out again under its id. */
export function mayRepeat(
  { ref }: Pick<Job, "ref">,
  { network, on_unknown, origin, is_restricted, is_overdue }: SendRow,
): boolean {
  const isGivenUp = network === "sandbox" && unconfirmedOf(ref) >= SANDBOX_TRIES;
  return on_unknown === "resend" && origin !== "campaign" && !is_restricted && !is_overdue && !isGivenUp;
}

/** On the connection that there is now. */
function unconfirmedTries({ ref }: Pick<Job, "ref">, { is_reconnected }: SendRow): number {
  return is_reconnected ? 0 : unconfirmedOf(ref);
}

function unconfirmedOf(ref: unknown): number {
  return (ref as { unconfirmed?: number }).unconfirmed ?? 0;
}
