import { sql } from "kysely";
import { phoneOfJid } from "../../../../network/jid.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { ConversationRef, Conversations, NumberResolver } from "../../../contacts/contacts.ts";
import type { SendRow } from "../submit-sends.ts";

export interface ReaddressDeps {
  db: Db;
  conversations: Conversations;
  numbers: NumberResolver;
}

/**
 * The address that the network uses for a number with two formats; when the send was accepted, no session may
 * have been there to look it up. Undefined if the address stays, or if the send may have gone out already.
 */
export async function readdressSend(
  { db, conversations, numbers }: ReaddressDeps,
  send: Pick<SendRow, "id" | "instance_id" | "account_id" | "jid" | "conversation_id" | "submitted_at">,
): Promise<ConversationRef | undefined> {
  const { id, account_id, instance_id, submitted_at } = send;
  if (submitted_at !== null) return undefined;
  const jid = await numbers.settle({ id: instance_id, account_id }, send.jid);
  if (jid === send.jid) return undefined;
  const person = { type: "contact", phone: phoneOfJid(jid), lid: null, push_name: null } as const;
  const conversation = await conversations.of({ account_id, instance_id, jid, ...person });
  await sql`
    update conversation c set last_message_at = case when c.id = ${conversation.id} then now()
      else (select max(sent_at) from message m where m.conversation_id = c.id and m.id <> ${id}) end
    where c.id in (select id from conversation where id in (${conversation.id}, ${send.conversation_id})
      order by id for no key update)`.execute(db);
  return conversation;
}
