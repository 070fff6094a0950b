import { setTimeout as delay } from "node:timers/promises";
import { type Db, isDatabaseUnavailable } from "../../../platform/db/database.ts";
import { isBackendGone, isCommitOutcomeUnknown } from "../../../platform/db/unknown-commit-outcome.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { NewMessage } from "./insert-messages.ts";

const POLL_MS = { first: 250, longest: 1000 };

/** Whether a message may have been inserted, or may still be, although its statement failed. */
export function isInsertUnknown(error: unknown): boolean {
  return isDatabaseUnavailable(error) && isCommitOutcomeUnknown(error);
}

/**
 * Polls, after the connection broke at the commit, until the message exists under its chosen id. Null once the
 * commit can no longer arrive: a slow disk or standby can delay it. Undefined when `mayWait` ends the wait.
 */
export async function findLateMessage(
  db: Db,
  message: NewMessage,
  cause: unknown,
  mayWait: () => boolean,
): Promise<{ id: number } | null | undefined> {
  for (let ms = POLL_MS.first; mayWait(); ms = Math.min(2 * ms, POLL_MS.longest)) {
    // Checked first, so that the query below sees a commit that the backend makes before it ends.
    const isLast = await isBackendGone(db, cause).catch(() => false);
    const found = await findMessage(db, message).catch(() => undefined);
    if (found || (found === null && isLast)) return found;
    await delay(ms);
  }
  return undefined;
}

/** The late message, or the error for its caller. */
export function requireLateMessage(
  found: { id: number } | null | undefined,
  { message_id }: NewMessage,
  cause: unknown,
): { id: number } {
  if (found) return found;
  if (found === null) throw cause;
  throw new GatewayError(
    "SEND_TIMEOUT",
    "The database did not confirm whether the message was accepted. Look for details.message_id in the log before you send it again.",
    { cause, details: { message_id, sent: "unknown" } },
  );
}

async function findMessage(db: Db, { instance_id, message_id }: NewMessage): Promise<{ id: number } | null> {
  const found = await db
    .selectFrom("message")
    .select("id")
    .where("instance_id", "=", instance_id)
    .where("message_id", "=", message_id)
    .executeTakeFirst();
  return found ?? null;
}
