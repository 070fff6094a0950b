import type { EventName } from "../../core/events/contract.ts";

/** The formats in which a webhook can receive events; all except `native` belong to other gateways. */
export const WEBHOOK_FORMATS = ["native", "evolution", "uazapi", "waha"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
export type CompatibilityFormat = Exclude<WebhookFormat, "native">;

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

/** The events that have a counterpart in each format. */
export const FORMAT_EVENTS: Readonly<Record<CompatibilityFormat, readonly EventName[]>> = {
  evolution: [...IN_EVERY_FORMAT, "message.failed"],
  uazapi: IN_EVERY_FORMAT,
  waha: [...IN_EVERY_FORMAT, "message.failed", "instance.passkey_required", "instance.passkey_confirmation"],
};

/** Returns the given names that a webhook of this format can receive. */
export function supportedEvents(format: WebhookFormat, names: readonly string[]): string[] {
  if (format === "native") return [...names];
  const known: readonly string[] = FORMAT_EVENTS[format];
  return names.filter((name) => known.includes(name));
}
