import { sql } from "kysely";
import type { Trx } from "../../../platform/db/database.ts";
import type { MessageRow } from "./message-view.ts";

/**
 * Deletes contacts whose numbers are not registered on the network, and removes their chats from the lists.
 * Failed messages stay in the log, and contacts with more data than a number stay.
 */
export async function deleteUnregisteredContacts(trx: Trx, decided: readonly MessageRow[]): Promise<void> {
  const chats = decided
    .filter(({ status, error }) => status === "failed" && error?.code === "RECIPIENT_NOT_FOUND")
    .map(({ conversation_id }) => conversation_id);
  if (chats.length === 0) return;
  await sql`
    with nobody as (
      select c.id, p.id as contact from conversation c
      left join contact p on p.id = c.contact_id and p.lid is null and p.name is null and p.push_name is null
        and p.verified_name is null and not p.is_blocked
      where c.id = any(${chats}::bigint[]) and c.type = 'contact' and not exists (
        select from message m where m.conversation_id = c.id
          and (m.status <> 'failed' or m.error ->> 'code' is distinct from 'RECIPIENT_NOT_FOUND'))
      order by c.id for update of c
    ), forgotten as (
      delete from contact p using nobody n where p.id = n.contact
    )
    update conversation c set last_message_at = null,
      contact_id = case when n.contact is null then c.contact_id end
    from nobody n where c.id = n.id`.execute(trx);
}
