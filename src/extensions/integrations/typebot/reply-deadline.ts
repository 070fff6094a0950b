import type { FailedRequest } from "../delivery/retry-request.ts";

/** After this time a user no longer waits for a bot's reply. */
const LONGEST_MS = 3_600_000;
/** Only a user can end a rejection, which takes longer. */
const LONGEST_REFUSED_MS = 24 * 3_600_000;

/** Whether a message that has waited since then should still go to the bot. */
export function isBeforeReplyDeadline(
  { isRefusal = false }: Pick<FailedRequest, "isRefusal">,
  since: Date,
): boolean {
  return Date.now() - since.getTime() <= (isRefusal ? LONGEST_REFUSED_MS : LONGEST_MS);
}
