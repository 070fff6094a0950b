import type { Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { encryptionContextOf } from "../../platform/secrets/secret-box.ts";
import { type InstanceRow, lockInstance } from "../instances/instances.ts";
import { findDefaultWebhook } from "./find-webhook.ts";
import { changeWebhook, insertWebhook, type SavedWith, type WebhookChange } from "./save-webhook.ts";
import type { WebhookRow } from "./webhook-record.ts";

/** Changes or creates the default webhook of an instance; the instance's lock prevents a second one. */
export async function changeDefaultWebhook(
  trx: Trx,
  deps: SavedWith,
  id: number,
  change: WebhookChange,
): Promise<WebhookRow> {
  const instance = await lockInstance(trx, id);
  const row = await findDefaultWebhook(trx, id);
  if (row) return changeWebhook(trx, deps, row, change);
  if (!change.url)
    throw invalidField("url", "is required: the instance has no default webhook yet", "missing");
  const created = await createDefaultWebhook(trx, deps, { instance, url: change.url });
  return changeWebhook(trx, deps, created, change);
}

/** The webhook of a new instance; it signs with the instance's own secret. */
export async function createDefaultWebhook(
  trx: Trx,
  deps: SavedWith,
  {
    instance,
    url,
    events,
  }: { instance: Pick<InstanceRow, "id" | "account_id" | "webhook_secret">; url: string; events?: string[] },
): Promise<WebhookRow> {
  return insertWebhook(trx, deps, {
    instance_id: instance.id,
    account_id: instance.account_id,
    name: "Default",
    url,
    events: events ?? [],
    secret: deps.box.open(
      instance.webhook_secret,
      encryptionContextOf("instance", "webhook_secret", instance.id),
    ),
    is_default: true,
  });
}
