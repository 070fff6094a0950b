import type { Jid, Session } from "../../../../network/driver.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { SendRow } from "../submit-sends.ts";

/** After this time the other end stops showing it. */
const TYPING_LASTS_MS = 10_000;

export function showTyping(session: Session, jid: Jid): void {
  session.setPresence?.("typing", jid).catch(() => {});
}

/** Shows typing for the requested delay; returns after how many milliseconds the send continues. */
export async function showDelay(
  db: Db,
  session: Session,
  { id, jid }: Pick<SendRow, "id" | "jid">,
  delayMs: number,
): Promise<number> {
  showTyping(session, jid);
  const nowMs = Math.min(delayMs, TYPING_LASTS_MS);
  const delay_ms = delayMs > nowMs ? delayMs - nowMs : null;
  await db.updateTable("message").set({ delay_ms }).where("id", "=", id).execute();
  return nowMs;
}
