import type { EVENT_NAMES, STREAM_EVENTS } from "../../core/events/contract.ts";

export type PageName = (typeof EVENT_NAMES)[number] | (typeof STREAM_EVENTS)[number];

interface EventText {
  notes?: readonly string[];
  /** Meanings of fields that differ from FIELD_MEANINGS. */
  fields?: Readonly<Record<string, string>>;
}

const MORE_MESSAGES =
  "More fields of a message are on the page [Events and payloads](README.md#fields-of-a-message).";

/** What the page of each event says beside its description in event-payloads.ts. */
export const EVENT_TEXTS: Readonly<Partial<Record<PageName, EventText>>> = {
  "message.received": {
    notes: [
      "The message is stored before WhatsApp gets a receipt. A file follows later: see [`media.ready`](media.ready.md).",
      MORE_MESSAGES,
    ],
  },
  "message.sent": {
    notes: ["`origin` of the message says who sent it.", MORE_MESSAGES],
  },
  "message.failed": {
    notes: ["[Errors](../errors.md#codes-of-failed-messages) explains each `error.code`.", MORE_MESSAGES],
  },
  "media.ready": {
    notes: ["[Files](../../guides/media.md) shows how to download it."],
    fields: { id: "Id of the message in the gateway." },
  },
  "instance.disconnected": {
    notes: ["[Session states](../session-states.md) lists every reason."],
  },
  "instance.logged_out": {
    notes: ["Pair the instance again: see [Pairing a phone](../../guides/pairing.md)."],
  },
  "instance.qr": {
    fields: {
      reason:
        "`new`; or `refreshed`: WhatsApp replaced the code during the scan, and the phone must scan once more.",
    },
  },
  "instance.passkey_confirmation": {
    fields: { code: "The code to compare." },
  },
  "instance.pairing_failed": {
    notes: ["[Errors](../errors.md#codes-of-failed-pairings) lists every code."],
    fields: { code: "Why it failed.", message: "What happened." },
  },
  "instance.attention": {
    fields: { code: "What is the matter.", message: "What to do, as a sentence for people." },
  },
  "group.updated": {
    notes: [
      "`change` has what changed: `subject`, `description`, `announce`, `locked`, `join_approval`, `members_can_add`, `participants` with `action` and `who`, `group` (the whole group, when the instance joins it) or `left: true`. An empty `change` means that something else changed, such as the picture.",
    ],
    fields: { by: "Who changed it; null: not reported.", jid: "The group." },
  },
  "presence.changed": {
    notes: ["`POST .../presence/subscribe` begins it, for an hour."],
    fields: {
      person: "Who it is; in a group the member.",
      jid: "The chat.",
      presence: "`available`, `unavailable`, `typing`, `recording` or `paused`.",
      last_seen_at: "Null: hidden, or the person is online.",
      expires_at: "From then on the presence is unknown, and `typing` is `paused`.",
    },
  },
  "group.join_requested": {
    fields: {
      person: "Who asks.",
      jid: "The group.",
      method: "The network's word for how the person asked, such as `invite_link`; null: not reported.",
    },
  },
  "label.changed": {
    fields: {
      change: "`saved`, `deleted`, `assigned` or `removed`.",
      label: "The label: id, name and colour.",
      jid: "The chat; null: the label itself has changed.",
      message_id: "The message in the chat; null: the chat itself has the label.",
      by: "`api` or `phone`.",
    },
  },
  "status.received": {
    fields: {
      type: "`text`, or the type of the file.",
      text: "The text; null: a file.",
      caption: "The caption of the file.",
      media: "Type, size and length of the file; null: a text.",
    },
  },
  "integration.paused": {
    notes: [
      "The integration is silent in that chat until `paused_until`. Each pause is twice as long as the one before.",
    ],
    fields: { reason: "`reply_limit`.", limit: "Replies that the integration may send before the pause." },
  },
  "webhook.failed": {
    notes: [
      "`data.reason` is `endpoint_failing` for a warning and `endpoint_disabled` for a webhook that the gateway switched off.",
    ],
  },
};

/** What each field of `data` has, unless its event says otherwise. */
export const FIELD_MEANINGS: Readonly<Record<string, string>> = {
  action: "The remedy, as a sentence for the person who links.",
  answer_message_id: "Id of the text that answers; null: a vote.",
  ask_id: "The `ask_id` of the response to the question.",
  at: "When it happened, ISO 8601 in UTC.",
  attempt: "Number of this attempt, from 1.",
  by: "Who did it; null: not reported.",
  call_id: "Id of the call on the network.",
  campaign: "The campaign: id, name, status and the reason of the status.",
  challenge: "The challenge that the passkey must sign.",
  change: "What changed.",
  conversation: "The chat of the message.",
  contact: "The person who answered.",
  direction: "`inbound` or `outbound`: whose messages these are.",
  error: "Why it failed: `code`, `message` and `retryable`. For a webhook: a sentence.",
  event: "Name of the delivered event.",
  event_id: "Id of the delivered event.",
  expires_at: "Until when it is valid.",
  from: "The caller.",
  from_me: "Whether the instance sent the message.",
  hint: "Advice for the person who scans; null: none.",
  jid: "The chat, group or person on the network.",
  jobId: "The `jobId` of the response to the async send; absent for other sends.",
  lid: "The person's address that hides the phone number; null: unknown.",
  limit: "The limit that was reached.",
  max_attempts: "After how many attempts the gateway gives up.",
  media: "The file: id, status, address, type, size and hash.",
  message: "The message.",
  message_id: "Id of the message on the network.",
  message_ids: "Ids of the messages on the network.",
  option: "The option, with the id of the question.",
  options: "The options that the person has chosen.",
  next_retry_at: "When the next attempt begins; null: none follows.",
  participant: "In a group: the member who read or received it.",
  paused_until: "Until when the integration is silent in this chat.",
  pauses: "How many pauses there were in a row.",
  pendingMessageId: "The `pendingMessageId` of the response to the async send; absent for other sends.",
  phone: "Phone number in digits; null: unknown.",
  provider: "The integration: `n8n`, `typebot` or `chatwoot`.",
  pinned: "Whether the message is pinned now.",
  pinned_until: "When the pin ends by itself; null: it is not pinned.",
  qr: "The QR code as a picture, a data URL.",
  qr_code: "The text of the QR code.",
  reaction: "The emoji; null when the person removed the reaction.",
  reason: "Why, as a stable word; null: none.",
  removed: "Whether the person removed the reaction.",
  sender: "The person who reacted.",
  starred: "Whether the phone shows a star now.",
  since: "Since when.",
  status: "Status of the instance.",
  status_code: "HTTP status of the receiver; null: no response.",
  text: "The text.",
  voter: "The person who voted; null: the poll hides its voters.",
  totals: "Recipients by state.",
  url: "Address of the webhook, masked where it can carry a secret.",
  video: "Whether it is a video call.",
  webhook_id: "Id of the webhook.",
  will_retry: "Whether the gateway reconnects automatically.",
};
