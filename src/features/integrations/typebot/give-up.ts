import type { FailedCall } from "../retry-call.ts";

/** Nobody waits longer for a bot to answer. */
const LONGEST_MS = 3_600_000;
/** Only a person can end a refusal, and that takes longer. */
const LONGEST_REFUSED_MS = 24 * 3_600_000;

/** Whether a bot that has not been asked since then is still to be asked. */
export function isWorthWaiting({ isRefusal = false }: Pick<FailedCall, "isRefusal">, since: Date): boolean {
  return Date.now() - since.getTime() <= (isRefusal ? LONGEST_REFUSED_MS : LONGEST_MS);
}
