// Baileys 7.0.0-rc14 keeps each message five minutes for resends, and its timer the decoded session of the transaction.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2044 (merged) added the timer.
import { AsyncLocalStorage } from "node:async_hooks";
import type { WASocket } from "baileys";

/** Of the program's start: a timer that is set in it retains no request, job or transaction. */
const runOutside = AsyncLocalStorage.snapshot();

/** Keeps only the message itself; 512 transactions of a busy session would take about 4 MB. */
export function releaseTransactions({ messageRetryManager }: Pick<WASocket, "messageRetryManager">): void {
  if (!messageRetryManager) return;
  const add = messageRetryManager.addRecentMessage.bind(messageRetryManager);
  messageRetryManager.addRecentMessage = (to, id, message) => runOutside(add, to, id, message);
}
