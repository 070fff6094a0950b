import type { gateway } from "../../gateway/gateway.ts";

type Filter = NonNullable<Parameters<typeof gateway.createWebhook>[0]["events"]>[number];
/** An event that a webhook can subscribe to by its name. */
export type WebhookEvent = Exclude<Filter, `${string}*`>;

/** Every event, in groups that a reader can choose from. */
export const EVENT_GROUPS = {
  messages: [
    "message.received",
    "message.sent",
    "message.delivered",
    "message.read",
    "message.failed",
    "message.edited",
    "message.deleted",
    "message.reaction",
    "media.ready",
  ],
  connection: [
    "instance.connected",
    "instance.disconnected",
    "instance.reconnecting",
    "instance.logged_out",
    "instance.attention",
    "instance.qr",
    "instance.qr_expired",
    "instance.pairing_failed",
    "instance.passkey_required",
    "instance.passkey_confirmation",
  ],
  others: ["group.updated", "call.received", "campaign.completed", "integration.paused"],
  deliveries: ["webhook.sent", "webhook.failed", "webhook.retrying"],
} as const satisfies Record<string, readonly WebhookEvent[]>;

export type EventGroup = keyof typeof EVENT_GROUPS;

/** Without a filter a webhook gets these. */
export const USUAL_EVENTS: readonly WebhookEvent[] = [
  "message.received",
  "message.sent",
  "message.failed",
  "message.read",
  "message.edited",
  "message.deleted",
  "message.reaction",
  "instance.connected",
  "instance.disconnected",
  "instance.qr",
  "instance.qr_expired",
];

export const ALL_EVENTS: readonly WebhookEvent[] = Object.values(EVENT_GROUPS).flat();

/** The single events behind a saved filter, which may have names such as `message.*`. */
export function toSingleEvents(filter: readonly string[]): WebhookEvent[] {
  if (filter.length === 0) return [...USUAL_EVENTS];
  const published = [...USUAL_EVENTS, ...EVENT_GROUPS.deliveries];
  return ALL_EVENTS.filter(
    (name) =>
      filter.includes(name) ||
      (published.includes(name) &&
        filter.some((one) => one.endsWith("*") && name.startsWith(one.slice(0, -1)))),
  );
}
