import { sql } from "kysely";
import { phoneOfJid } from "../../../../network/jid.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { Conversations, NumberResolver } from "../../../contacts/contacts.ts";
import type { SendRow } from "../submit-sends.ts";

export interface ReaddressDeps {
  db: Db;
  conversations: Conversations;
  numbers: NumberResolver;
}

/**
 * Looks up the network's address for a number with two formats, since no session may have been there at the
 * acceptance. A send that may have gone out keeps its address.
 */
export async function readdressSend(
  { db, conversations, numbers }: ReaddressDeps,
  send: SendRow,
): Promise<SendRow> {
  const { id, account_id, instance_id } = send;
  if (send.submitted_at !== null) return send;
  const jid = await numbers.resolve({ id: instance_id, account_id }, send.jid);
  if (jid === send.jid) return send;
  const person = { type: "contact", phone: phoneOfJid(jid), lid: null, push_name: null } as const;
  const conversation = await conversations.getOrCreate({ account_id, instance_id, jid, ...person });
  await sql`
    update conversation c set last_message_at = case when c.id = ${conversation.id} then now()
      else (select max(sent_at) from message m where m.conversation_id = c.id and m.id <> ${id}) end
    where c.id in (select id from conversation where id in (${conversation.id}, ${send.conversation_id})
      order by id for no key update)`.execute(db);
  return { ...send, jid: conversation.jid, to: conversation };
}
