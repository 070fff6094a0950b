import { sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import { isGroupJid, phoneOfJid } from "../../network/jid.ts";
import type { ChatState } from "../../network/session-operations.ts";
import type { Db } from "../../platform/db/database.ts";
import { type Conversations, findConversation } from "../contacts/contacts.ts";

/**
 * Records the state of a chat on the phone. A read chat has no unread messages. Returns the conversation's
 * id.
 */
export async function recordChatUpdate(
  { db, conversations }: { db: Db; conversations: Conversations },
  instance: { id: number; account_id: number },
  { chat, change }: { chat: Jid; change: ChatState },
): Promise<number> {
  const address = await conversations.addressOf(instance.id, chat);
  const known = await findConversation(db, instance.id, address);
  const id = known?.id ?? (await makeConversation(conversations, instance, address));
  const { archived, pinned, muted_until, unread } = change;
  const changed = {
    ...(archived !== undefined && { archived }),
    ...(pinned !== undefined && { pinned }),
    ...(muted_until !== undefined && { muted_until }),
    ...(unread !== undefined && { marked_unread: unread }),
  };
  if (Object.keys(changed).length === 0) return id;
  await db.updateTable("conversation").set(changed).where("id", "=", id).execute();
  if (unread === false) await readAll(db, id);
  return id;
}

async function makeConversation(
  conversations: Conversations,
  instance: { id: number; account_id: number },
  jid: Jid,
): Promise<number> {
  const { id } = await conversations.getOrCreate({
    account_id: instance.account_id,
    instance_id: instance.id,
    jid,
    type: isGroupJid(jid) ? "group" : "contact",
    phone: phoneOfJid(jid),
    lid: null,
    push_name: null,
  });
  return id;
}

async function readAll(db: Db, conversationId: number): Promise<void> {
  await sql`
    update message m set read_at = now() where id in (
      select id from message where conversation_id = ${conversationId} and direction = 'inbound' and read_at is null
      order by id for update)`.execute(db);
}
