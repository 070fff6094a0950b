import type { Db, Trx } from "../../../../platform/db/database.ts";
import type { ChatwootContext } from "../chatwoot-context.ts";
import type { AgentMessage } from "./chatwoot-webhook-body.ts";

/** Stores why an agent's message does not go out. A second record of the message changes only the reason. */
export async function recordUnsentMessage(
  db: Db | Trx,
  { account_id, id }: Pick<ChatwootContext["integration"], "account_id" | "id">,
  message: AgentMessage,
  { status, error }: { status: "failed" | "skipped"; error: string },
): Promise<void> {
  await db
    .insertInto("integration_link")
    .values({
      account_id,
      integration_id: id,
      chat: "",
      part: 0,
      provider_conversation_id: String(message.conversation.id),
      provider_message_id: String(message.id),
      origin: "provider",
      status,
      error,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["integration_id", "provider_message_id", "part"])
        .where("provider_message_id", "is not", null)
        .doUpdateSet({ error }),
    )
    .execute();
}
