import type { FormatOptions } from "../../core/webhooks/webhooks.ts";
import {
  actionId,
  chatOf,
  isGroup,
  isOwnAction,
  ownJid,
  phoneJid,
  type RecordedEvent,
  type RecordedMessage,
  type RecordedPerson,
  secondsOf,
} from "./recorded-event.ts";

/** The event as uazapiGO 2.1 sends it, taken from recorded requests. */
export function toUazapi(event: RecordedEvent, { token, baseUrl }: FormatOptions) {
  const named = nameAndRest(event);
  if (named === undefined) return undefined;
  const [EventType, rest] = named;
  const owner = event.instance.phone ?? "";
  return {
    BaseUrl: baseUrl,
    EventType,
    token: token ?? "",
    owner,
    instanceName: event.instance.name,
    ...rest,
  };
}

type Named = readonly [type: string, rest: Record<string, unknown>];

function nameAndRest(event: RecordedEvent): Named | undefined {
  const { data } = event;
  switch (event.event) {
    case "message.received":
    case "message.sent":
      return data.message && messages(event, data.message, ofMessage(event, data.message));
    case "message.edited":
      return data.text === null ? undefined : messages(event, data.message, ofEdit(event));
    case "message.reaction":
      return messages(event, data.message, ofReaction(event));
    case "message.delivered":
      return update(event, { type: "ReadReceipt", state: "Delivered" });
    case "message.read":
      return update(event, { type: "ReadReceipt", state: "Read" });
    case "message.deleted":
      return update(event, { type: "DeletedMessage", state: "Deleted" });
    default:
      return connection(event);
  }
}

const CONNECTION: Record<string, string> = {
  "instance.connected": "connected",
  "instance.qr": "connecting",
  "instance.reconnecting": "connecting",
  "instance.disconnected": "disconnected",
  "instance.logged_out": "disconnected",
  "instance.qr_expired": "disconnected",
};

function connection(event: RecordedEvent): Named | undefined {
  const { data, instance, timestamp } = event;
  const known = CONNECTION[event.event];
  if (known === undefined) return undefined;
  const status = data.will_retry ? "connecting" : known;
  const ended = status === "disconnected" && {
    lastDisconnect: timestamp.slice(0, 19).replace("T", " "),
    lastDisconnectReason: data.reason ?? "",
  };
  return [
    "connection",
    {
      ...(data.status === "logged_out" && { type: "LoggedOut" }),
      instance: { name: instance.name, status, ...(data.qr && { qrcode: data.qr }), ...ended },
    },
  ];
}

function messages(
  event: RecordedEvent,
  message: RecordedMessage | undefined,
  changed: Record<string, unknown>,
): Named {
  return ["messages", { chatSource: "updated", chat: chatCard(event, message), message: changed }];
}

function chatCard({ data, instance, timestamp }: RecordedEvent, message: RecordedMessage | undefined) {
  const jid = chatOf(data);
  const name = data.conversation?.title ?? "";
  return {
    id: data.conversation ? String(data.conversation.id) : "",
    owner: instance.phone ?? "",
    phone: message?.phone ?? "",
    name,
    wa_name: name,
    wa_contactName: "",
    wa_chatid: jid,
    wa_chatlid: message?.lid ?? "",
    wa_isGroup: isGroup(jid),
    wa_lastMsgTimestamp: Date.parse(message?.timestamp ?? timestamp),
    image: "",
    imagePreview: "",
  };
}

/** Fields that every uazapi message has, empty if unused. */
const EMPTY = { status: "", quoted: "", reaction: "", edited: "", vote: "", buttonOrListid: "" };

function ofMessage(event: RecordedEvent, message: RecordedMessage) {
  const { text, caption, media, quoted, origin, unsupported } = message;
  return {
    ...addresses(event, message.message_id, message.from_me, message.sender),
    wasSentByApi: message.from_me && origin !== "phone",
    type: media ? "media" : unsupported ? "unknown" : "text",
    messageType: typeName(message),
    mediaType: media?.type ?? "",
    text: text ?? caption ?? "",
    content: contentOf(event, message),
    messageTimestamp: Date.parse(message.timestamp),
    source: "",
    ...EMPTY,
    quoted: quoted?.id ?? "",
    buttonOrListid: message.choice?.id ?? "",
    track_source: "",
    track_id: message.track_id ?? "",
    ...(media && { fileURL: "" }),
  };
}

function addresses(
  event: RecordedEvent,
  id: string,
  fromMe: boolean,
  sender: RecordedPerson | null | undefined,
) {
  const chatid = chatOf(event.data);
  const owner = event.instance.phone ?? "";
  const own = ownJid(event) ?? "";
  const pn = fromMe ? own : (phoneJid(sender?.phone) ?? "");
  const lid = fromMe ? "" : (sender?.lid ?? "");
  return {
    id: `${owner}:${id}`,
    messageid: id,
    chatid,
    sender: lid || pn,
    sender_pn: pn,
    sender_lid: lid,
    senderName: fromMe ? "" : (sender?.push_name ?? ""),
    isGroup: isGroup(chatid),
    fromMe,
    owner,
    ...(isGroup(chatid) && { groupName: event.data.conversation?.title ?? "" }),
  };
}

const MEDIA_NAMES = {
  image: "ImageMessage",
  video: "VideoMessage",
  audio: "AudioMessage",
  ptt: "AudioMessage",
  document: "DocumentMessage",
  sticker: "StickerMessage",
};

function typeName({ media, location, contacts, quoted, unsupported }: RecordedMessage): string {
  if (media) return MEDIA_NAMES[media.type];
  if (unsupported) return "UnknownMessage";
  if (location) return "LocationMessage";
  if (contacts) return "ContactMessage";
  return quoted ? "ExtendedTextMessage" : "Conversation";
}

function contentOf(
  event: RecordedEvent,
  { text, caption, media, location, contacts, quoted }: RecordedMessage,
) {
  if (media) {
    return {
      mimetype: media.mime_type,
      ...(caption !== null && { caption }),
      ...(media.file_name !== null && { fileName: media.file_name }),
      ...(media.seconds !== null && { seconds: media.seconds }),
      ...(media.type === "ptt" && { PTT: true }),
      fileLength: media.size,
    };
  }
  if (location)
    return { ...location, degreesLatitude: location.latitude, degreesLongitude: location.longitude };
  const [contact] = contacts ?? [];
  if (contact) return { displayName: contact.name, vcard: contact.vcard };
  if (!quoted) return text ?? "";
  const participant = quoted.from_me ? ownJid(event) : (quoted.sender ?? chatOf(event.data));
  const quotedMessage = { conversation: quoted.text ?? "" };
  return { text, contextInfo: { stanzaID: quoted.id, participant: participant ?? "", quotedMessage } };
}

function ofEdit(event: RecordedEvent) {
  const { by, text, message_id, at } = event.data;
  return {
    ...addresses(event, actionId(event), isOwnAction(event), by),
    wasSentByApi: false,
    type: "text",
    messageType: "Conversation",
    mediaType: "",
    text,
    content: text,
    messageTimestamp: Date.parse(at ?? event.timestamp),
    source: "",
    ...EMPTY,
    edited: message_id,
    track_source: "",
    track_id: "",
  };
}

function ofReaction(event: RecordedEvent) {
  const { sender, reaction, message_id, at } = event.data;
  return {
    ...addresses(event, actionId(event), isOwnAction(event), sender),
    wasSentByApi: false,
    type: "reaction",
    messageType: "ReactionMessage",
    mediaType: "",
    text: reaction,
    content: "",
    messageTimestamp: Date.parse(at ?? event.timestamp),
    source: "",
    ...EMPTY,
    reaction: message_id,
    track_source: "",
    track_id: "",
  };
}

function update(event: RecordedEvent, { type, state }: { type: string; state: string }): Named {
  const { message, message_ids, message_id, at, by, participant } = event.data;
  const chat = chatOf(event.data);
  const who = by ?? participant ?? (message?.from_me && !message.is_group ? message : null);
  const pn = phoneJid(who?.phone) ?? "";
  const lid = who?.lid ?? "";
  return [
    "messages_update",
    {
      type,
      state,
      event: {
        MessageIDs: message_ids ?? (message_id ? [message_id] : []),
        Chat: chat,
        chatid: chat,
        Sender: lid || pn,
        sender_pn: pn,
        sender_lid: lid,
        IsFromMe: false,
        IsGroup: isGroup(chat),
        Timestamp: secondsOf(at ?? event.timestamp),
        Type: state,
      },
    },
  ];
}
