import { z } from "zod";
import { deliveryReason, reasonParams } from "../../platform/http/reason-schemas.ts";
import { isoTime, pageInput, pagination, route, rowId } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

/** The events of the specification that a webhook without a filter receives. */
export const DEFAULT_EVENTS = [
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
] as const;

/** Reports of deliveries; recorded only while a webhook subscribes to them. */
export const OPERATIONAL_EVENTS = ["webhook.sent", "webhook.failed", "webhook.retrying"] as const;

/** Names beyond the specification; recorded only while a webhook names them exactly. */
export const EXTRA_EVENTS = [
  "message.delivered",
  "message.pinned",
  "message.starred",
  "media.ready",
  "instance.reconnecting",
  "instance.logged_out",
  "instance.passkey_required",
  "instance.pairing_failed",
  "instance.passkey_confirmation",
  "instance.attention",
  "group.updated",
  "group.join_requested",
  "presence.changed",
  "call.received",
  "poll.voted",
  "label.changed",
  "status.received",
  "status.viewed",
  "answer.received",
  "campaign.completed",
  "integration.paused",
] as const;

/** Only streams and lists show these: no webhook can subscribe to them. */
export const STREAM_EVENTS = ["campaign.progress"] as const;

export const EVENT_NAMES = [...DEFAULT_EVENTS, ...OPERATIONAL_EVENTS, ...EXTRA_EVENTS] as const;

export type EventName = (typeof EVENT_NAMES)[number];

/** Names that stand for several events; `*` for the 14 of the specification. */
export const EVENT_GROUPS = ["*", "message.*", "instance.*", "webhook.*"] as const;

/** The sentence for a name that is no event, with the names that are. */
export function refuseEventName(name: unknown, names: readonly string[]): string {
  const shown = typeof name === "string" ? `"${name.slice(0, 60)}"` : "this";
  return `${shown} is not the name of an event. The names are ${names.join(", ")}`;
}

const listedNames = [...EVENT_GROUPS, ...EVENT_NAMES, ...STREAM_EVENTS] as const;

/** The filter of a list by event. */
export const listedEvent = z
  .enum(listedNames, { error: ({ input }) => refuseEventName(input, listedNames) })
  .describe("The name of an event, or `message.*`, `instance.*`, `webhook.*`; `*`: all events.");

export const instanceId = rowId.describe("Numeric instance id.");

/** A time in a request. */
export const readTime = boundedText(64)
  .check(z.iso.datetime({ offset: true, error: "must be a time in ISO 8601, such as 2026-01-31T12:00:00Z" }))
  .transform((text) => new Date(text));

const deliveryStatus = z.enum(["pending", "retrying", "delivered", "failed", "parked", "discarded"]);

export const eventDelivery = named(
  "EventDelivery",
  z.object({
    webhook_id: z.number().int(),
    status: deliveryStatus,
    attempts: z.number().int(),
    next_retry_at: isoTime.nullable(),
    delivered_at: isoTime.nullable(),
    response_status: z.number().int().nullable(),
    error: z.string().nullable(),
    reason: deliveryReason.nullable(),
    params: reasonParams,
  }),
);

const eventRow = z.object({
  id: z.number().int(),
  event_id: z.string(),
  event: z.string(),
  sequence: z.number().int(),
  created_at: isoTime,
  deliveries: z.array(eventDelivery),
});

export const eventsContract = {
  streamEvents: route({
    http: "GET /api/v1/instances/:id/events/stream",
    access: "instance",
    tag: "Webhooks",
    summary: "Follow the events of an instance as server-sent events; `Last-Event-ID` (a sequence) resumes",
    input: z.object({ id: instanceId }),
    output: z.never(),
    raw: "text/event-stream",
    streamed: true,
  }),
  streamAccountEvents: route({
    http: "GET /api/v1/events/stream",
    access: "account",
    keepsToInstances: true,
    tag: "Webhooks",
    summary:
      "Follow the events of all instances of the account; a resumed stream may repeat events with the same `event_id`",
    input: z.object({}),
    output: z.never(),
    raw: "text/event-stream",
    streamed: true,
  }),
  listEvents: route({
    http: "GET /api/v1/instances/:id/webhook-events",
    access: "instance",
    tag: "Webhooks",
    summary: "List recorded events, newest first; with `after` oldest first, for a replay in order",
    message: "Events",
    input: z.object({
      id: instanceId,
      ...pageInput,
      event: listedEvent.optional(),
      webhook_id: z.coerce.number().int().optional(),
      status: deliveryStatus
        .optional()
        .describe("Events with a delivery in this state; with `webhook_id` a delivery to that webhook."),
      from: readTime.optional().describe("Events recorded at or after this time."),
      to: readTime.optional().describe("Events recorded before this time."),
      after: z.coerce.number().int().min(0).optional().describe("Replay the events after this `sequence`."),
    }),
    output: z.array(eventRow.extend({ payload: z.unknown().optional() })),
    beside: z.object({ pagination }),
  }),
  getEvent: route({
    http: "GET /api/v1/instances/:id/webhook-events/:eventId",
    access: "instance",
    tag: "Webhooks",
    summary: "Get one event with its payload; `:eventId` accepts `id` or `event_id`",
    message: "Event",
    input: z.object({ id: instanceId, eventId: boundedText(64).min(1) }),
    output: eventRow.extend({ payload: z.unknown() }),
  }),
};
