import type { Trx } from "../../../platform/db/database.ts";
import { queueAction, selectMessages } from "../../messages/messages.ts";
import type { ReplyTarget } from "../queue-replies.ts";

const AT_ONCE = 100;

/** A reply implies that the agent has read the earlier messages. */
export async function markRead(trx: Trx, route: ReplyTarget, holdMs: number): Promise<void> {
  const { instance_id: id, account_id, lane, conversation_id, jid } = route;
  const unread = await selectMessages(trx)
    .where("m.conversation_id", "=", conversation_id)
    .where("m.from_me", "=", false)
    .where("m.read_at", "is", null)
    .orderBy("m.id", "desc")
    .limit(AT_ONCE)
    .execute();
  if (unread.length === 0) return;
  const targets = unread.map(({ message_id, sender }) => ({
    id: message_id,
    from_me: false,
    ...(sender && { sender: sender.jid }),
  }));
  await queueAction(trx, { id, account_id, lane }, { action: "read", jid, targets }, holdMs);
}
