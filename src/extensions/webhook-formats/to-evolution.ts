import type { FormatOptions } from "../../core/webhooks/webhooks.ts";
import {
  actionId,
  chatOf,
  isOwnAction,
  isOwnTarget,
  ownJid,
  phoneJid,
  type RecordedEvent,
  type RecordedMedia,
  type RecordedMessage,
  type RecordedPerson,
  secondsOf,
} from "./recorded-event.ts";

type Named = readonly [event: string, data: unknown];

/** The event as Evolution API 2.3 would send it. */
export function toEvolution(event: RecordedEvent, { url, token, baseUrl }: FormatOptions) {
  const named = nameAndData(event, baseUrl);
  if (named === undefined) return undefined;
  return {
    event: named[0],
    instance: event.instance.name,
    data: named[1],
    destination: url,
    date_time: event.timestamp,
    sender: ownJid(event) ?? null,
    server_url: baseUrl,
    apikey: token,
  };
}

function nameAndData(event: RecordedEvent, baseUrl: string): Named | undefined {
  const { message } = event.data;
  switch (event.event) {
    case "message.received":
      return message && ["messages.upsert", messageData(event, message, baseUrl)];
    case "message.sent":
      return message && [nameOfSent(message), messageData(event, message, baseUrl)];
    case "message.reaction":
      return [isOwnAction(event) ? "send.message" : "messages.upsert", reactionData(event)];
    case "message.failed":
      return ["messages.update", statusData(event, "ERROR")];
    case "message.delivered":
      return ["messages.update", statusData(event, "DELIVERY_ACK")];
    case "message.read":
      return ["messages.update", statusData(event, "READ")];
    case "message.edited":
      return event.data.text === null ? undefined : ["messages.edited", editData(event)];
    case "message.deleted":
      return ["messages.delete", deletionData(event)];
    default:
      return connectionEvent(event);
  }
}

function nameOfSent({ origin }: RecordedMessage): string {
  return origin === "phone" ? "messages.upsert" : "send.message";
}

function connectionEvent(event: RecordedEvent): Named | undefined {
  const { data, instance } = event;
  const name = instance.name;
  switch (event.event) {
    case "instance.connected":
      return [
        "connection.update",
        { ...opened(event), instance: name, profilePictureUrl: null, state: "open", statusReason: 200 },
      ];
    case "instance.reconnecting":
      return ["connection.update", { instance: name, state: "connecting", statusReason: 200 }];
    case "instance.disconnected":
      // Evolution does not report a temporary drop as `close`.
      return data.will_retry
        ? ["connection.update", { instance: name, state: "connecting", statusReason: 200 }]
        : ["connection.update", { instance: name, state: "close", statusReason: closeReason(data.status) }];
    case "instance.logged_out":
      return ["logout.instance", null];
    case "instance.qr":
      return [
        "qrcode.updated",
        { qrcode: { instance: name, pairingCode: null, code: data.qr_code, base64: data.qr } },
      ];
    case "instance.qr_expired":
      return ["qrcode.updated", { message: "QR code limit reached, please login again", statusCode: 500 }];
    default:
      return undefined;
  }
}

function opened(event: RecordedEvent) {
  return { wuid: ownJid(event) ?? null, profileName: null };
}

/** The status codes of Baileys: 401 logged out, 403 banned, 428 closed. */
function closeReason(status: string | undefined): number {
  if (status === "banned") return 403;
  return status === "error" ? 500 : status === "disconnected" || status === "logged_out" ? 401 : 428;
}

function messageData(event: RecordedEvent, message: RecordedMessage, baseUrl: string) {
  const [messageType, content] = contentOf(message, baseUrl);
  return {
    ...commonData(event, message),
    ...(message.quoted && { contextInfo: quotedOf(event, message.quoted) }),
    message: content,
    messageType,
  };
}

function commonData(event: RecordedEvent, message: RecordedMessage) {
  return {
    key: keyOf(message.message_id, message.jid, message.from_me, message.sender),
    pushName: pushNameOf(message),
    status: statusOf(message),
    messageTimestamp: secondsOf(message.timestamp),
    instanceId: event.instance_id,
    source: sourceOf(message.message_id),
  };
}

/** In the language of Evolution API, since its clients compare this name. */
const OWN_NAME = "Você";

function pushNameOf({ from_me, sender }: RecordedMessage): string {
  return from_me ? OWN_NAME : (sender?.push_name ?? "");
}

function statusOf({ from_me, origin }: RecordedMessage): string {
  if (!from_me) return "DELIVERY_ACK";
  return origin === "phone" ? "SERVER_ACK" : "PENDING";
}

function keyOf(id: string, jid: string, fromMe: boolean, sender: RecordedPerson | null | undefined) {
  const person = jid.endsWith("@g.us") && !fromMe ? participantOf(sender) : {};
  const isLid = "participantAlt" in person || jid.endsWith("@lid");
  return { remoteJid: jid, fromMe, id, ...person, addressingMode: isLid ? "lid" : "pn" };
}

function participantOf(sender: RecordedPerson | null | undefined) {
  if (!sender) return {};
  const pn = phoneJid(sender.phone);
  return sender.lid && pn ? { participant: sender.lid, participantAlt: pn } : { participant: sender.jid };
}

/** Evolution API guesses the source from the format of the id. */
function sourceOf(id: string): string {
  if (/^3A.{18}$/.test(id)) return "ios";
  if (/^3E.{20}$/.test(id)) return "web";
  if (/^(.{21}|.{32})$/.test(id)) return "android";
  return /^3F|^.{18}$/.test(id) ? "desktop" : "unknown";
}

function quotedOf(
  event: RecordedEvent,
  { id, from_me, sender, text }: NonNullable<RecordedMessage["quoted"]>,
) {
  const participant = from_me ? ownJid(event) : (sender ?? chatOf(event.data));
  return { stanzaId: id, participant: participant ?? null, quotedMessage: { conversation: text ?? "" } };
}

type Content = readonly [type: string, content: Record<string, unknown>];

function contentOf(message: RecordedMessage, baseUrl: string): Content {
  const { text, caption, media, location, contacts } = message;
  if (media) return mediaContent(media, caption, baseUrl);
  const [contact] = contacts ?? [];
  if (contact)
    return ["contactMessage", { contactMessage: { displayName: contact.name, vcard: contact.vcard } }];
  if (location) {
    const { latitude, longitude, name, address } = location;
    const position = { degreesLatitude: latitude, degreesLongitude: longitude, name, address };
    return ["locationMessage", { locationMessage: position }];
  }
  return text === null ? ["unknown", {}] : ["conversation", { conversation: text }];
}

function mediaContent(media: RecordedMedia, caption: string | null, baseUrl: string): Content {
  const type = `${media.type === "ptt" ? "audio" : media.type}Message`;
  const file = {
    mimetype: media.mime_type,
    ...(caption !== null && { caption }),
    ...(media.file_name !== null && { fileName: media.file_name }),
    ...(media.seconds !== null && { seconds: media.seconds }),
    ...(type === "audioMessage" && { ptt: media.type === "ptt" }),
    fileLength: longOf(media.size),
  };
  return [type, { [type]: file, ...(media.url && { mediaUrl: `${baseUrl}${media.url}` }) }];
}

function longOf(value: number) {
  return { low: value | 0, high: Math.floor(value / 2 ** 32), unsigned: true };
}

function reactionData(event: RecordedEvent) {
  const { data } = event;
  const [chat, own, id] = [chatOf(data), isOwnAction(event), actionId(event)];
  const target = { remoteJid: chat, fromMe: isOwnTarget(event), id: data.message_id };
  return {
    key: keyOf(id, chat, own, data.sender),
    pushName: own ? OWN_NAME : (data.sender?.push_name ?? ""),
    status: own ? "PENDING" : "DELIVERY_ACK",
    message: { reactionMessage: { key: target, text: data.reaction } },
    messageType: "reactionMessage",
    messageTimestamp: secondsOf(data.at ?? event.timestamp),
    instanceId: event.instance_id,
    source: "unknown",
  };
}

/** Evolution API sends one request per message; a receipt for several names the first here and lists all. */
function statusData(event: RecordedEvent, status: string) {
  const { message, message_ids = [], jid, participant } = event.data;
  const ids = message_ids.length === 0 && message ? [message.message_id] : message_ids;
  return {
    keyId: ids[0] ?? null,
    ...(ids.length > 1 && { keyIds: ids }),
    remoteJid: jid ?? message?.jid,
    fromMe: message?.from_me ?? true,
    ...(participant && { participant: participant.lid ?? participant.jid }),
    status,
    instanceId: event.instance_id,
    messageId: message ? String(message.id) : null,
  };
}

function editData(event: RecordedEvent) {
  const { data } = event;
  return {
    key: keyOf(data.message_id ?? "", chatOf(data), isOwnTarget(event), data.by),
    type: "MESSAGE_EDIT",
    editedMessage: { conversation: data.text },
    timestampMs: String(Date.parse(data.at ?? event.timestamp)),
  };
}

function deletionData(event: RecordedEvent) {
  const { data } = event;
  const { message, message_id: id = "" } = data;
  const [remoteJid, fromMe] = [chatOf(data), isOwnTarget(event)];
  if (!fromMe || !message) return { remoteJid, fromMe, id, status: "DELETED" };
  const key = { remoteJid, fromMe, id, deleted: true };
  const { pushName, messageTimestamp, instanceId, source } = commonData(event, message);
  return {
    id: String(message.id),
    instanceId,
    key,
    messageType: contentOf(message, "")[0],
    status: "DELETED",
    source,
    messageTimestamp,
    pushName,
    participant: null,
    message: contentOf(message, "")[1],
  };
}
