import type { Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { type InstanceRow, lockInstance } from "../instances/instances.ts";
import { findDefaultWebhook } from "./find-webhook.ts";
import { changeWebhook, insertWebhook, type WebhookChange } from "./save-webhook.ts";
import type { WebhookRow } from "./webhook-record.ts";

/** Changes or creates the default webhook of an instance; the instance's lock prevents a second one. */
export async function changeDefaultWebhook(
  trx: Trx,
  box: SecretBox,
  id: number,
  change: WebhookChange,
): Promise<WebhookRow> {
  const instance = await lockInstance(trx, id);
  const row = await findDefaultWebhook(trx, id);
  if (row) return changeWebhook(trx, box, row, change);
  if (!change.url) throw invalidField("url", "is required: the instance has no default webhook yet");
  const created = await createDefaultWebhook(trx, box, { instance, url: change.url });
  return changeWebhook(trx, box, created, change);
}

/** The webhook of a new instance; it signs with the instance's own secret. */
export async function createDefaultWebhook(
  trx: Trx,
  box: SecretBox,
  {
    instance,
    url,
    events,
  }: { instance: Pick<InstanceRow, "id" | "account_id" | "webhook_secret">; url: string; events?: string[] },
): Promise<WebhookRow> {
  return insertWebhook(trx, box, {
    instance_id: instance.id,
    account_id: instance.account_id,
    name: "Default",
    url,
    events: events ?? [],
    secret: box.open(instance.webhook_secret, encryptionContextOf("instance", "webhook_secret", instance.id)),
    is_default: true,
  });
}
