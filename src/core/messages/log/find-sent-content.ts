import { sql } from "kysely";
import type { Content, Jid, MessageId } from "../../../network/driver.ts";
import type { Db } from "../../../platform/db/database.ts";
import { UNSUPPORTED_TYPE } from "./message-view.ts";

/** The content of a sent message without its bytes, for a phone that requests the message again. */
export async function findSentContent(
  db: Db,
  instanceId: number,
  chat: Jid,
  id: MessageId,
): Promise<Content | undefined> {
  const row = await db
    .selectFrom("message")
    .select(sql<Content>`content - 'upload' - 'shared' - 'reactions' - 'ask'`.as("content"))
    .where("instance_id", "=", instanceId)
    .where("message_id", "=", id)
    .where("jid", "=", chat)
    .where("from_me", "=", true)
    .where("type", "<>", UNSUPPORTED_TYPE)
    .where(sql<boolean>`not content ? 'anonymized_at'`)
    .executeTakeFirst();
  return row?.content;
}
