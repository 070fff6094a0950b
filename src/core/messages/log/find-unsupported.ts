import type { UnsupportedMessage } from "../../../network/driver.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import type { MessageRow } from "./message-view.ts";
import { openOfMessage } from "./seal-for-message.ts";

/** An instance reads so many again with each connection. */
const MOST_REREAD = 100;

/** The latest messages of the instance whose bytes are kept because the gateway could not read them. */
export async function findUnsupported(
  db: Db,
  box: SecretBox,
  instanceId: number,
): Promise<UnsupportedMessage[]> {
  const rows = await db
    .selectFrom("message as m")
    .innerJoin("conversation as c", "c.id", "m.conversation_id")
    .select(["m.message_id", "m.jid", "m.from_me", "m.sender", "m.sent_at", "m.raw", "c.type as chat_type"])
    .where("m.instance_id", "=", instanceId)
    .where("m.raw", "is not", null)
    .where("m.deleted_at", "is", null)
    .orderBy("m.id", "desc")
    .limit(MOST_REREAD)
    .$castTo<
      Pick<MessageRow, "message_id" | "jid" | "from_me" | "sender" | "sent_at" | "raw" | "chat_type">
    >()
    .execute();
  return rows.flatMap(({ message_id: id, jid: chat, from_me, sender, sent_at: at, chat_type, ...row }) => {
    const raw = openOfMessage(box, "raw", instanceId, id, row.raw);
    return raw === undefined || sender === null ? [] : [{ id, chat, chat_type, from_me, sender, at, raw }];
  });
}
