import { sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import { phoneJid, phoneOfJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { numberVariantsOf } from "./number-variants.ts";
import type { ConversationRef } from "./save-chats.ts";

/**
 * The addresses under which the log may store a chat, the given one first: a number with two formats has two.
 */
export function addressesOf(chat: string): string[] {
  const phone = phoneOfJid(chat as Jid);
  return phone === null ? [chat] : numberVariantsOf(phone).map(phoneJid);
}

/**
 * The conversation with the person or group behind an address, in any format of the number. Of two, the one
 * with messages, then the one with the given format.
 */
export async function findConversation(
  db: Db,
  instanceId: number,
  address: Jid,
): Promise<ConversationRef | undefined> {
  return db
    .selectFrom("conversation")
    .select(["id", "jid"])
    .where("instance_id", "=", instanceId)
    .where("jid", "in", addressesOf(address))
    .where("merged_into", "is", null)
    .orderBy(sql`last_message_at is null`)
    .orderBy(sql`jid <> ${address}`)
    .limit(1)
    .$castTo<ConversationRef>()
    .executeTakeFirst();
}
