import { type Selectable, sql, type Updateable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { IntegrationLinkTable } from "../../tables.ts";
import type { Integration } from "./integration-row.ts";

export type MessageLink = Selectable<IntegrationLinkTable>;

/** The message, or the part of it, that is transferred. */
export interface MessageLinkKey {
  chat: string;
  message_id: string;
  part?: number;
}

type Owner = Pick<Integration, "id" | "account_id">;

/**
 * Claims a message before it is sent to the other side. `isNew`: it was not sent before, so this job may
 * send it. Else returns the existing link: `claimed` means that a process died during the send, and the
 * outcome is unknown.
 */
export async function claimMessageLink(
  db: Db | Trx,
  { id: integration_id, account_id }: Owner,
  { chat, message_id, part = 0 }: MessageLinkKey,
): Promise<{ link: MessageLink; isNew: boolean }> {
  const key = { integration_id, chat, message_id, part };
  const claimed = await db
    .insertInto("integration_link")
    .values({ ...key, account_id, origin: "whatsapp", attempts: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(["integration_id", "chat", "message_id", "part"])
        .where("message_id", "is not", null)
        .doUpdateSet((eb) => ({
          status: "claimed",
          attempts: eb("integration_link.attempts", "+", 1),
          updated_at: sql<Date>`now()`,
        }))
        .where("integration_link.status", "=", "waiting"),
    )
    .returningAll()
    .executeTakeFirst();
  if (claimed) return { link: claimed, isNew: true };
  const link = await findMessageLink(db, integration_id, key);
  if (!link) throw new Error("a link is neither there nor can it be added");
  return { link, isNew: false };
}

/** In one chat if it is given; else in any chat. */
export async function findMessageLink(
  db: Db | Trx,
  integrationId: number,
  { chat, message_id, part = 0 }: Omit<MessageLinkKey, "chat"> & { chat?: string },
): Promise<MessageLink | undefined> {
  return db
    .selectFrom("integration_link")
    .selectAll()
    .where("integration_id", "=", integrationId)
    .where("message_id", "=", message_id)
    .where("part", "=", part)
    .$if(chat !== undefined, (query) => query.where("chat", "=", chat ?? ""))
    .executeTakeFirst();
}

/** All parts of the message with this id on the other side. */
export async function findProviderMessageLinks(
  db: Db | Trx,
  integrationId: number,
  providerMessageId: string,
): Promise<MessageLink[]> {
  return db
    .selectFrom("integration_link")
    .selectAll()
    .where("integration_id", "=", integrationId)
    .where("provider_message_id", "=", providerMessageId)
    .orderBy("part")
    .execute();
}

export async function updateMessageLink(
  db: Db | Trx,
  id: number,
  change: Pick<
    Updateable<IntegrationLinkTable>,
    "status" | "error" | "provider_message_id" | "provider_conversation_id" | "message_id"
  >,
): Promise<void> {
  await db
    .updateTable("integration_link")
    .set({ ...change, updated_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}
