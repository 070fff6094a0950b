// Baileys 7.0.0-rc14 handles an account's messages sequentially, each until its Signal session state is durable.
// Upstream: https://github.com/WhiskeySockets/Baileys/pull/2587 (merged later) replaces the one mutex by one per chat.
import type { WASocket } from "baileys";
import { Semaphore } from "../../../platform/limits/semaphore.ts";

/** Messages that share a commit; more would occupy the event loop before the first of them is stored. */
const MAX_CONCURRENT = 16;

/** Handles several messages at the same time; `orderMessagesPerChat` provides the order that the mutex provided. */
export function allowConcurrentReceives({ messageMutex }: WASocket): void {
  const slots = new Semaphore({ limit: MAX_CONCURRENT });
  messageMutex.mutex = (work) => slots.use(work);
}
