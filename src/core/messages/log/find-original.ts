import { sql } from "kysely";
import type { Jid, MessageId, OriginalMessage } from "../../../network/driver.ts";
import { isUndecrypted } from "../../../network/network-message.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import { type MessageRow, wordsOf } from "./message-view.ts";
import { openOfMessage } from "./seal-for-message.ts";

/** The logged message that a change is about, with its secret. */
export async function findOriginal(
  db: Db,
  box: SecretBox,
  instanceId: number,
  chat: Jid,
  id: MessageId,
): Promise<OriginalMessage | undefined> {
  const row = await db
    .selectFrom("message")
    .select(["from_me", "sender", "content", "secret"])
    .where("instance_id", "=", instanceId)
    .where("message_id", "=", id)
    .where("jid", "in", addressesOf(chat))
    .orderBy(sql`jid <> ${chat}`)
    .limit(1)
    .$castTo<Pick<MessageRow, "from_me" | "sender" | "content" | "secret">>()
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    from_me: row.from_me,
    sender: row.from_me ? null : row.sender,
    unreadable: isUndecrypted(row),
    secret: openOfMessage(box, "secret", instanceId, id, row.secret),
    text: wordsOf(row.content) ?? null,
    poll: (row.content.kind === "text" && row.content.poll) || null,
  };
}
