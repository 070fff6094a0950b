import { z } from "zod";
import { sendError } from "../platform/http/reason-schemas.ts";
import { named } from "../platform/http/schema-name.ts";
import type { EVENT_NAMES, STREAM_EVENTS } from "./events/contract.ts";
import { attention, instanceStatus } from "./instances/contract.ts";
import { media } from "./media/contract.ts";
import { message, person, pollOption, sender } from "./messages/contract.ts";
import { pairingError, qrReason } from "./sessions/contract.ts";

/** An event that the gateway records or streams. */
export type PayloadName = (typeof EVENT_NAMES)[number] | (typeof STREAM_EVENTS)[number];

export interface DescribedEvent {
  /** When the gateway records it; goes on after "Recorded when". */
  when: string;
  data: z.ZodObject;
}

const time = z.iso.datetime();
const text = z.string().nullable();
const count = z.number().int();

/** The fields of every event. */
export const eventBody = named(
  "Event",
  z.object({
    event_id: z.string().describe("The same at every attempt. Store it to recognise a repetition."),
    event: z.string(),
    tenant_id: z.string().describe("`tenant_<account>`."),
    instance_id: z.string().describe("`inst_<instance>`."),
    timestamp: time.describe("When the event was recorded."),
    source: z.literal("Waygate"),
    version: z.literal("2").describe("Of this format."),
    sequence: count.describe("Counts the events of the instance without gaps."),
    account_id: count,
    instance: z
      .object({
        id: count,
        name: z.string(),
        phone: text,
        metadata: z.record(z.string(), z.unknown()),
      })
      .describe("The instance at that time."),
    truncated: z
      .literal(true)
      .optional()
      .describe("Long texts and lists are cut to keep the body below 256 KiB."),
  }),
);

const conversation = named(
  "EventConversation",
  z.object({ id: count, jid: z.string(), phone: text, title: text, type: z.enum(["contact", "group"]) }),
);
const aboutMessage = { message, conversation };
/** A message that is not in the log is known by its id only. */
const aboutKnownMessage = { message: message.optional(), conversation: conversation.optional() };

/** Of an async send. */
const asyncSend = { jobId: z.string().optional(), pendingMessageId: z.string().optional() };

const change = { message_id: z.string(), jid: z.string(), at: time };

const receipts = named(
  "ReceiptEventData",
  z.object({
    message_ids: z.array(z.string()),
    jid: z.string(),
    participant: person.nullable().describe("In a group: the member who received or read them."),
    at: time,
    direction: z.enum(["inbound", "outbound"]).describe("Whose messages these are."),
    ...aboutMessage,
  }),
);

const connection = named(
  "ConnectionEventData",
  z.object({
    status: instanceStatus,
    phone: text,
    jid: text,
    reason: text,
    will_retry: z.boolean().describe("Whether the gateway reconnects automatically."),
    pairing_error: pairingError.unwrap().optional(),
  }),
);

const delivery = named(
  "DeliveryEventData",
  z.object({
    webhook_id: count,
    event_id: text,
    event: text,
    url: z.string().describe("Masked where it can carry a secret."),
    attempt: count.nullable(),
    max_attempts: count,
    status_code: count.nullable(),
    error: text,
    next_retry_at: time.nullable(),
    reason: z.enum(["endpoint_failing", "endpoint_disabled"]).optional(),
    test: z.literal(true).optional(),
  }),
);

/** What some events are about: the schema of their `data`. */
export type EventPayloads = Readonly<Partial<Record<PayloadName, DescribedEvent>>>;

/** The events of core. */
export const CORE_EVENT_PAYLOADS: EventPayloads = {
  "message.received": {
    when: "a contact writes to the instance, in a chat or in a group",
    data: z.object({
      ...aboutMessage,
      offline: z.literal(true).optional().describe("The message waited on the network for the connection."),
    }),
  },
  "message.sent": {
    when: "the network accepts a message of the instance, sent by the API, by a campaign, by an integration or on the phone",
    data: z.object({ ...aboutMessage, ...asyncSend }),
  },
  "message.failed": {
    when: "an async send ends without success; a sync send reports its failure in the response instead",
    data: z.object({ ...aboutMessage, ...asyncSend, error: sendError }),
  },
  "message.delivered": {
    when: "messages reach the phone of the recipient; in a group once per member",
    data: receipts,
  },
  "message.read": {
    when: "messages are read, by the other side or on the instance's own phone; in a group once per reader",
    data: receipts,
  },
  "message.edited": {
    when: "a message is edited",
    data: z.object({
      ...change,
      text: text.describe("The new text or caption; null: not known."),
      reason: z
        .enum(["no_secret", "undecryptable"])
        .optional()
        .describe("Why the text is not known: edits are encrypted with a secret of the original message."),
      by: sender,
      ...aboutKnownMessage,
    }),
  },
  "message.deleted": {
    when: "a message is deleted for everyone",
    data: z.object({ ...change, by: sender, ...aboutKnownMessage }),
  },
  "message.reaction": {
    when: "a person reacts to a message, or removes the reaction",
    data: z.object({
      ...change,
      reaction: z.string().nullable(),
      removed: z.boolean(),
      sender,
      ...aboutKnownMessage,
    }),
  },
  "poll.voted": {
    when: "a person votes on a poll that the instance sent or received, changes the vote or withdraws it",
    data: z.object({
      ...change,
      voter: sender.nullable().describe("Null: the poll hides its voters."),
      options: z
        .array(pollOption)
        .describe("All that the person has chosen now; empty: the vote is withdrawn."),
      ...aboutMessage,
    }),
  },
  "message.pinned": {
    when: "a message is pinned in its chat, or unpinned",
    data: z.object({
      ...change,
      pinned: z.boolean(),
      pinned_until: time.nullable(),
      by: sender,
      ...aboutKnownMessage,
    }),
  },
  "message.starred": {
    when: "a message is starred on the phone or by the API, or its star is removed",
    data: z.object({ ...change, starred: z.boolean(), ...aboutMessage }),
  },
  "answer.received": {
    when: "a person answers a question of `POST ask`, by a vote or by a text; only the first answer",
    data: z.object({
      ...change,
      ask_id: z.string(),
      option: z.object({ id: z.string(), text: z.string() }),
      contact: sender,
      answer_message_id: text.describe("The text that answers; null: a vote."),
      ...aboutMessage,
    }),
  },
  "media.ready": {
    when: "the file of a received message is stored and can be downloaded",
    data: z.object({ id: count, message_id: z.string(), jid: z.string(), from_me: z.boolean(), media }),
  },
  "instance.connected": { when: "the session of the instance opens", data: connection },
  "instance.disconnected": { when: "the session ends", data: connection },
  "instance.reconnecting": {
    when: "the connection is lost and the gateway begins to restore it",
    data: connection,
  },
  "instance.logged_out": { when: "the phone or the network unlinks the instance", data: connection },
  "instance.qr": {
    when: "a QR code waits to be scanned, and each time a new code replaces it",
    data: z.object({
      qr: z.string().describe("The QR code as a picture, a data URL."),
      qr_code: z.string(),
      expires_at: time,
      attempt: count,
      max_attempts: count,
      reason: qrReason,
      hint: text.describe("Advice for the person who scans."),
    }),
  },
  "instance.qr_expired": { when: "the last QR code of a pairing expires without a scan", data: connection },
  "instance.passkey_required": {
    when: "the network requires a passkey before it links the instance",
    data: connection.extend({
      challenge: z.record(z.string(), z.unknown()).nullable(),
      expires_at: time,
    }),
  },
  "instance.passkey_confirmation": {
    when: "a person must compare a code with the one on the phone",
    data: connection.extend({ code: text, expires_at: time }),
  },
  "instance.pairing_failed": { when: "an attempt to link a phone fails", data: pairingError.unwrap() },
  "instance.attention": {
    when: "a person must act: the network requires it, withholds messages, or will refuse the client version",
    data: z.object({
      code: z.enum([...attention.unwrap().shape.code.options, "client_expiring"]),
      message: z.string(),
      since: time,
      phone: text,
      jid: text,
      status: instanceStatus,
      expires_at: time
        .optional()
        .describe("Only with `client_expiring`: when the network refuses the version."),
    }),
  },
  "group.updated": {
    when: "a group of the instance changes",
    data: z.object({
      jid: z.string(),
      at: time,
      by: sender.nullable(),
      change: z
        .record(z.string(), z.unknown())
        .describe("What changed; empty: something else, such as the picture."),
    }),
  },
  "group.join_requested": {
    when: "a person asks to join a group of which the instance is an admin",
    data: z.object({
      jid: z.string(),
      person: sender,
      method: text.describe("The network's word for how the person asked, such as `invite_link`."),
      at: time,
    }),
  },
  "presence.changed": {
    when: "a person whose presence the instance follows comes online, goes, or writes",
    data: z.object({
      jid: z.string(),
      person: sender,
      presence: z.enum(["available", "unavailable", "typing", "recording", "paused"]),
      last_seen_at: time.nullable().describe("Null: hidden, or the person is online."),
      at: time,
      expires_at: time.describe("From then on, treat the presence as unknown; `typing` as `paused`."),
    }),
  },
  "call.received": {
    when: "a person calls the instance",
    data: z.object({ call_id: z.string(), from: sender, video: z.boolean(), at: time }),
  },
  "webhook.sent": { when: "a delivery to a webhook succeeds", data: delivery },
  "webhook.retrying": {
    when: "a delivery attempt fails and the gateway will retry it",
    data: delivery,
  },
  "webhook.failed": {
    when: "the gateway gives up a delivery, warns of a failing webhook, or switches a webhook off",
    data: delivery,
  },
};
