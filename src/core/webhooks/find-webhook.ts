import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { WebhookRow } from "./webhook-record.ts";

/** The webhooks of an instance, except removed ones. */
export function selectWebhooks(db: Db | Trx, instanceId: number) {
  return db
    .selectFrom("webhook")
    .selectAll()
    .where("instance_id", "=", instanceId)
    .where("removed_at", "is", null);
}

export function findDefaultWebhook(db: Db | Trx, instanceId: number): Promise<WebhookRow | undefined> {
  return selectWebhooks(db, instanceId).where("is_default", "=", true).executeTakeFirst();
}

export function getWebhook(db: Db | Trx, instanceId: number, webhookId: number): Promise<WebhookRow> {
  return selectWebhooks(db, instanceId).where("id", "=", webhookId).executeTakeFirstOrThrow(noWebhook);
}

/** Like `getWebhook`, with a lock against other changes until the commit. */
export function lockWebhook(trx: Trx, instanceId: number, webhookId: number): Promise<WebhookRow> {
  return selectWebhooks(trx, instanceId)
    .where("id", "=", webhookId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(noWebhook);
}

function noWebhook(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such webhook.");
}
