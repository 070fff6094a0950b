import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { Integration } from "./integration-row.ts";

export interface IntegrationChat<State> {
  chat: string;
  provider_conversation_id: string | null;
  state: Partial<State>;
  /** Until then the chat gets no automatic replies. */
  replies_paused_until?: Date | null;
}

/**
 * What an integration has stored of a chat; empty if there is nothing. Data stored under the LID of a person
 * whose phone is known now moves to the chat.
 */
export async function readIntegrationChat<State extends object>(
  db: Db | Trx,
  { id }: Pick<Integration, "id">,
  { chat, lid }: { chat: string; lid?: string | null },
): Promise<IntegrationChat<State>> {
  const found = await findChat<State>(db, id, chat);
  if (found || !lid || lid === chat) return found ?? { chat, provider_conversation_id: null, state: {} };
  await sql`
    update integration_chat set chat = ${chat} where integration_id = ${id} and chat = ${lid}
      and not exists (select from integration_chat where integration_id = ${id} and chat = ${chat})`.execute(
    db,
  );
  return (await findChat<State>(db, id, chat)) ?? { chat, provider_conversation_id: null, state: {} };
}

async function findChat<State>(
  db: Db | Trx,
  id: number,
  chat: string,
): Promise<IntegrationChat<State> | undefined> {
  return db
    .selectFrom("integration_chat")
    .select(["chat", "provider_conversation_id", "state", "replies_paused_until"])
    .where("integration_id", "=", id)
    .where("chat", "=", chat)
    .$castTo<IntegrationChat<State>>()
    .executeTakeFirst();
}

/** The chat that has this id on the other side. */
export async function findChatByConversation<State>(
  db: Db | Trx,
  { id }: Pick<Integration, "id">,
  providerConversationId: string,
): Promise<IntegrationChat<State> | undefined> {
  return db
    .selectFrom("integration_chat")
    .select(["chat", "provider_conversation_id", "state"])
    .where("integration_id", "=", id)
    .where("provider_conversation_id", "=", providerConversationId)
    .orderBy("updated_at", "desc")
    .$castTo<IntegrationChat<State>>()
    .executeTakeFirst();
}

/** Stores the new state of a chat. */
export async function saveIntegrationChat<State extends object>(
  db: Db | Trx,
  { id: integration_id, account_id }: Pick<Integration, "id" | "account_id">,
  { chat, provider_conversation_id, state }: IntegrationChat<State>,
): Promise<void> {
  const columns = { provider_conversation_id, state: JSON.stringify(state) };
  await db
    .insertInto("integration_chat")
    .values({ integration_id, account_id, chat, ...columns })
    .onConflict((conflict) =>
      conflict.columns(["integration_id", "chat"]).doUpdateSet({ ...columns, updated_at: sql<Date>`now()` }),
    )
    .execute();
}
