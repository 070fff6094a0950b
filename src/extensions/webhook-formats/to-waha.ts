import type { FormatOptions } from "../../core/webhooks/webhooks.ts";
import {
  actionId,
  chatOf,
  isGroup,
  isOwnAction,
  isOwnTarget,
  type RecordedEvent,
  type RecordedMedia,
  type RecordedMessage,
  type RecordedPerson,
  secondsOf,
} from "./recorded-event.ts";

/** The release and engine that these formats follow; clients distinguish by the engine. */
const ENVIRONMENT = {
  version: "2026.7.1",
  engine: "GOWS",
  tier: "PLUS",
  browser: null,
  platform: "linux/x64",
  worker: { id: null },
};

/** The event as WAHA 2026.7 would send it. */
export function toWaha(event: RecordedEvent, { baseUrl }: FormatOptions) {
  const named = nameAndPayload(event, baseUrl);
  if (named === undefined) return undefined;
  return {
    id: event.event_id.toLowerCase(),
    timestamp: Date.parse(event.timestamp),
    event: named[0],
    session: event.instance.name,
    metadata: event.instance.metadata,
    me: meOf(event),
    payload: named[1],
    engine: ENVIRONMENT.engine,
    environment: ENVIRONMENT,
  };
}

function meOf({ instance: { phone } }: RecordedEvent) {
  return phone === null ? null : { id: `${phone}@c.us`, pushName: null, jid: `${phone}@s.whatsapp.net` };
}

type Named = readonly [event: string, payload: Record<string, unknown>];

function nameAndPayload(event: RecordedEvent, baseUrl: string): Named | undefined {
  const { message } = event.data;
  switch (event.event) {
    case "message.received":
      return message && ["message", messagePayload(message, baseUrl)];
    case "message.sent":
      return message && ["message.any", messagePayload(message, baseUrl)];
    case "message.failed":
      return ack(event, -1);
    case "message.delivered":
      return ack(event, 2);
    case "message.read":
      return ack(event, 3);
    case "message.edited":
      return event.data.text === null ? undefined : ["message.edited", editPayload(event)];
    case "message.deleted":
      return ["message.revoked", deletionPayload(event)];
    case "message.reaction":
      return ["message.reaction", reactionPayload(event)];
    default:
      return sessionStatus(event);
  }
}

const STATUSES: Record<string, string> = {
  "instance.connected": "WORKING",
  "instance.reconnecting": "STARTING",
  "instance.qr": "SCAN_QR_CODE",
  "instance.qr_expired": "FAILED",
  "instance.logged_out": "FAILED",
  "instance.passkey_required": "PASSKEY_REQUIRED",
  "instance.passkey_confirmation": "PASSKEY_CONFIRMATION_REQUIRED",
};

function sessionStatus(event: RecordedEvent): Named | undefined {
  const status = event.event === "instance.disconnected" ? ended(event) : STATUSES[event.event];
  if (status === undefined) return undefined;
  const statuses = [{ status, timestamp: Date.parse(event.timestamp) }];
  return ["session.status", { name: event.instance.name, status, statuses, data: passkeyOf(event) }];
}

/** What clients of WAHA need to continue with a passkey. */
function passkeyOf({ data }: RecordedEvent): Record<string, unknown> | null {
  return data.challenge ?? (data.code === undefined ? null : { code: data.code });
}

function ended({ data }: RecordedEvent): string {
  if (data.will_retry) return "STARTING";
  return data.status === "disconnected" ? "STOPPED" : "FAILED";
}

/** WAHA's format of a person's address. */
function userId(jid: string): string {
  return jid.replace("@s.whatsapp.net", "@c.us");
}

function messageId(fromMe: boolean, chat: string, id: string, person: string | null): string {
  return `${fromMe}_${userId(chat)}_${id}${isGroup(chat) && person ? `_${person}` : ""}`;
}

function participantOf(chat: string, sender: RecordedPerson | null | undefined): string | null {
  return isGroup(chat) && sender ? userId(sender.jid) : null;
}

const ACKS: Record<string, readonly [number, string]> = {
  failed: [-1, "ERROR"],
  pending: [0, "PENDING"],
  sent: [1, "SERVER"],
  delivered: [2, "DEVICE"],
  received: [2, "DEVICE"],
  read: [3, "READ"],
  played: [4, "PLAYED"],
};

function messagePayload(message: RecordedMessage, baseUrl: string) {
  const { from_me: fromMe, jid, sender, media, quoted } = message;
  const participant = participantOf(jid, sender);
  const [level, ackName] = ACKS[message.status] ?? [null, "UNKNOWN"];
  return {
    id: messageId(fromMe, jid, message.message_id, participant),
    timestamp: secondsOf(message.timestamp),
    from: userId(jid),
    fromMe,
    source: fromMe && message.origin !== "phone" ? "api" : "app",
    to: participant,
    participant,
    body: message.unsupported ? null : (message.text ?? message.caption ?? ""),
    hasMedia: media !== null,
    media: media && fileOf(media, baseUrl),
    ...(media?.url && { mediaUrl: `${baseUrl}${media.url}` }),
    ack: level,
    ackName,
    location: message.location && placeOf(message.location),
    vCards: message.contacts?.map(({ vcard }) => vcard) ?? null,
    replyTo: quoted && quotedOf(quoted),
    _data: { Info: { PushName: fromMe ? null : (sender?.push_name ?? null) } },
  };
}

/** The file requires the API key, in WAHA and here. */
function fileOf({ url, mime_type, file_name }: RecordedMedia, baseUrl: string) {
  if (url === null) return null;
  return { url: `${baseUrl}${url}`, mimetype: mime_type, filename: file_name, s3: null, error: null };
}

function placeOf({ latitude, longitude, name, address }: NonNullable<RecordedMessage["location"]>) {
  return { latitude: String(latitude), longitude: String(longitude), live: false, name, address };
}

function quotedOf({ id, sender, text }: NonNullable<RecordedMessage["quoted"]>) {
  return { id, participant: sender ? userId(sender) : null, body: text ?? null };
}

const ACK_NAMES = new Map(Object.values(ACKS));

/** WAHA sends one request per message; a receipt for several names the first here and lists all. */
function ack({ data }: RecordedEvent, level: number): Named {
  const chat = chatOf(data);
  const reader = data.participant;
  const fromMe = data.message?.from_me ?? true;
  const bare = data.message_ids ?? (data.message ? [data.message.message_id] : []);
  const ids = bare.map((id) => messageId(fromMe, chat, id, null));
  return [
    isGroup(chat) ? "message.ack.group" : "message.ack",
    {
      id: ids[0] ?? null,
      ...(ids.length > 1 && { ids }),
      from: userId(chat),
      to: null,
      participant: reader ? userId(reader.jid) : null,
      fromMe,
      ack: level,
      ackName: ACK_NAMES.get(level) ?? "UNKNOWN",
      _data: {},
    },
  ];
}

function actionPayload(event: RecordedEvent, by: RecordedPerson | undefined) {
  const chat = chatOf(event.data);
  const fromMe = isOwnAction(event);
  const participant = participantOf(chat, by);
  return {
    id: messageId(fromMe, chat, actionId(event), participant),
    timestamp: secondsOf(event.data.at ?? event.timestamp),
    from: userId(chat),
    fromMe,
    source: "app",
    to: participant,
    participant,
  };
}

function editPayload(event: RecordedEvent) {
  const { by, text, message_id } = event.data;
  const edited = { body: text, hasMedia: false, editedMessageId: message_id, _data: {} };
  return { ...actionPayload(event, by), ...edited };
}

function deletionPayload(event: RecordedEvent) {
  const { by, message_id } = event.data;
  const after = { ...actionPayload(event, by), body: null, hasMedia: false };
  return { after, before: null, revokedMessageId: message_id, _data: {} };
}

function reactionPayload(event: RecordedEvent) {
  const { sender, reaction, message_id = "", message } = event.data;
  const chat = chatOf(event.data);
  const target = messageId(isOwnTarget(event), chat, message_id, participantOf(chat, message?.sender));
  return { ...actionPayload(event, sender), reaction: { text: reaction, messageId: target } };
}
