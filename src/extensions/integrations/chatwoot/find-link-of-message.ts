import type { Db, Trx } from "../../../platform/db/database.ts";
import type { Integration } from "../integration-row.ts";
import type { MessageLink } from "../message-link.ts";

/** Stored in `error` of the link of a message that is deleted on both sides. */
export const DELETED_MARK = "deleted";

/** The link of a WhatsApp message, whichever part of a Chatwoot message it is. */
export async function findLinkOfMessage(
  db: Db | Trx,
  { id }: Pick<Integration, "id">,
  message_id: string,
): Promise<MessageLink | undefined> {
  return db
    .selectFrom("integration_link")
    .selectAll()
    .where("integration_id", "=", id)
    .where("message_id", "=", message_id)
    .where("provider_message_id", "is not", null)
    .orderBy("id")
    .executeTakeFirst();
}
