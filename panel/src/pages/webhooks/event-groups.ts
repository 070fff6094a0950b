import type { gateway } from "../../gateway/gateway.ts";

type Filter = NonNullable<Parameters<typeof gateway.createWebhook>[0]["events"]>[number];
export type WebhookEvent = Exclude<Filter, `${string}*`>;

/** All events, grouped for selection. */
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
    "message.pinned",
    "message.starred",
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
  others: [
    "group.updated",
    "call.received",
    "poll.voted",
    "campaign.completed",
    "integration.paused",
    "group.join_requested",
    "presence.changed",
    "label.changed",
    "status.received",
    "status.viewed",
    "answer.received",
  ],
  deliveries: ["webhook.sent", "webhook.failed", "webhook.retrying"],
} as const satisfies Record<string, readonly WebhookEvent[]>;

export type EventGroup = keyof typeof EVENT_GROUPS;

/** The default filter of a webhook. */
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

/** Expands wildcards such as `message.*` in a saved filter. */
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
