import type { WASocket } from "baileys";
import { resultWithin } from "../../result-within.ts";

const QUERY_MS = 3_000;
/** A lock whose end the network does not name; Baileys assumes the same. */
const UNNAMED_LOCK_MS = 60_000;

/** The end of the network's lock on new chats of the account; undefined if there is none. */
export async function findNewChatLock(sock: WASocket): Promise<Date | undefined> {
  const lock = await resultWithin(sock.fetchAccountReachoutTimelock(), QUERY_MS);
  if (!lock?.isActive) return undefined;
  const soon = new Date(Date.now() + UNNAMED_LOCK_MS);
  const { timeEnforcementEnds: end } = lock;
  return end && end > soon ? end : soon;
}
