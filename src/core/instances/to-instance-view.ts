import type { Selectable } from "kysely";
import type { OutputOf } from "../../platform/http/route.ts";
import type { PlanTable } from "../../tables.ts";
import { nextMonthStart } from "../plans/plans.ts";
import { attentionOf } from "./attention-of.ts";
import { DEFAULT_SETTINGS, type instancesContract } from "./contract.ts";
import type { InstanceRow } from "./instance-row.ts";
import type { InstanceSettings } from "./instance-settings.ts";

export type InstanceView = OutputOf<typeof instancesContract.getInstance>;
export type PlanLimits = Omit<Selectable<PlanTable>, "id" | "name" | "price" | "features" | "max_accounts">;

/** The instance as the API shows it, without secrets. `used`: messages of this month, if they are counted. */
export function toInstanceView(
  row: InstanceRow,
  limits: PlanLimits,
  used: number | null,
  baseUrl: string,
): InstanceView {
  const settings: InstanceSettings = { ...DEFAULT_SETTINGS, ...row.settings };
  return {
    ...row,
    connection_status: row.status,
    phone_connected: row.phone,
    webhook: toWebhookSetupView(row.id, baseUrl),
    settings,
    attention: attentionOf(row),
    limits: {
      ...limits,
      messages_per_minute: smaller(settings.messages_per_minute, limits.message_rate_limit_per_minute),
      messages_used: used,
      messages_reset_at: nextMonthStart(),
    },
    new_chats_locked_until: newChatsLockOf(row),
  };
}

function smaller(one: number | null | undefined, other: number | null): number | null {
  const least = Math.min(one ?? Infinity, other ?? Infinity);
  return least === Infinity ? null : least;
}

/** Until when the network refuses messages to new chats; null after that time. */
export function newChatsLockOf({ new_chats_locked_until: until }: InstanceRow): Date | null {
  return until !== null && until.getTime() > Date.now() ? until : null;
}

/** What a customer needs to set up a receiver. */
export function toWebhookSetupView(id: number, baseUrl: string) {
  const base = `${baseUrl}/api/v1/instances/${id}`;
  return {
    webhooks_url: `${base}/webhooks`,
    webhook_events_url: `${base}/webhook-events`,
    webhook_logs_url: `${base}/webhook-logs`,
    webhook_test_url: `${base}/webhook/test`,
    signing_header: "X-Waygate-Signature",
    signature_format: "sha256=<hmac_sha256_raw_body_hex>",
  };
}
