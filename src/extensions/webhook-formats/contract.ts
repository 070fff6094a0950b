import type { EventName } from "../../core/events/contract.ts";
import type { WebhookFormat } from "../../core/webhooks/contract.ts";

export type CompatibilityFormat = Exclude<WebhookFormat, "native" | "cloudevents">;

const IN_EVERY_FORMAT = [
  "message.received",
  "message.sent",
  "message.delivered",
  "message.read",
  "message.edited",
  "message.deleted",
  "message.reaction",
  "instance.connected",
  "instance.disconnected",
  "instance.reconnecting",
  "instance.logged_out",
  "instance.qr",
  "instance.qr_expired",
] as const satisfies readonly EventName[];

/** The events that have a counterpart in each format of another gateway. */
export const FORMAT_EVENTS: Readonly<Record<CompatibilityFormat, readonly EventName[]>> = {
  evolution: [...IN_EVERY_FORMAT, "message.failed"],
  uazapi: IN_EVERY_FORMAT,
  waha: [...IN_EVERY_FORMAT, "message.failed", "instance.passkey_required", "instance.passkey_confirmation"],
};
