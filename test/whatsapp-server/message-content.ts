import { encodeWAMessage, proto, writeRandomPadMax16 } from "baileys";
import {
  keepLaterFields,
  type LaterPoll,
  type WireMessage,
} from "../../src/network/whatsapp/baileys-fixes/keep-later-fields.ts";
import { readVcard } from "../../src/platform/text/read-vcard.ts";
import type { SaidAlbum, SaidMedia, SaidPoll, SaidQuote, SentContent } from "./control.ts";
import type { FilePart, StoredFile } from "./media-store.ts";

const MEDIA_FIELD = {
  image: "imageMessage",
  video: "videoMessage",
  audio: "audioMessage",
  ptt: "audioMessage",
  document: "documentMessage",
  sticker: "stickerMessage",
} as const;

keepLaterFields();

/** The protocol message. A file must be stored before. */
export function toMessage(
  said: SentContent,
  context: proto.IContextInfo | undefined,
  file: StoredFile | undefined,
): proto.IMessage {
  const contextInfo = context;
  switch (said.kind) {
    case "text":
      return contextInfo
        ? { extendedTextMessage: { text: said.text, contextInfo } }
        : { conversation: said.text };
    case "location":
      return {
        locationMessage: {
          degreesLatitude: said.latitude,
          degreesLongitude: said.longitude,
          name: said.name,
          address: said.address,
          contextInfo,
        },
      };
    case "contact":
      return {
        contactMessage: { displayName: said.name, vcard: said.vcard ?? vcardOf(said), contextInfo },
      };
    case "media":
      return {
        [MEDIA_FIELD[said.media_type]]: {
          ...file,
          mimetype: said.mime_type,
          caption: said.caption,
          fileName: said.file_name,
          seconds: said.seconds,
          ...(said.media_type === "ptt" && { ptt: true }),
          ...(said.view_once && { viewOnce: true }),
          contextInfo,
        },
        ...(said.album && { messageContextInfo: { messageAssociation: toAssociation(said.album) } }),
      };
    case "poll":
      return writePoll(said, contextInfo);
    case "raw":
      return proto.Message.fromObject(said.message);
    case "payload":
      return { [PAYLOAD]: said.bytes } as proto.IMessage;
  }
}

const POLL_FIELD = {
  1: "pollCreationMessage",
  3: "pollCreationMessageV3",
  6: "pollCreationMessageV6",
} as const;

function writePoll(
  { version, question, options, selectable_count, hide_voters, ends_at }: SaidPoll,
  contextInfo: proto.IContextInfo | undefined,
): proto.IMessage {
  const poll = {
    name: question,
    options: options.map((optionName) => ({ optionName })),
    selectableOptionsCount: selectable_count,
    contextInfo,
    ...(hide_voters && { hideParticipantName: true }),
    ...(ends_at && { endTime: Date.parse(ends_at) }),
  };
  return { [POLL_FIELD[version]]: poll };
}

function seenPoll(message: WireMessage): SaidPoll | undefined {
  for (const version of [1, 3, 6] as const) {
    const poll: LaterPoll | null | undefined = message[POLL_FIELD[version]];
    if (!poll) continue;
    return {
      kind: "poll",
      version,
      question: poll.name ?? "",
      options: (poll.options ?? []).map(({ optionName }) => optionName ?? ""),
      selectable_count: poll.selectableOptionsCount ?? 0,
      ...(poll.hideParticipantName && { hide_voters: true }),
      ...(poll.endTime && { ends_at: new Date(poll.endTime).toISOString() }),
    };
  }
  return undefined;
}

const { MEDIA_ALBUM } = proto.MessageAssociation.AssociationType;

const toAssociation = ({ id, position }: SaidAlbum): proto.IMessageAssociation => ({
  associationType: MEDIA_ALBUM,
  parentMessageKey: { id, fromMe: true },
  messageIndex: position,
});

function albumOf({ messageContextInfo }: proto.IMessage): SaidAlbum | undefined {
  const { associationType, parentMessageKey, messageIndex } = messageContextInfo?.messageAssociation ?? {};
  if (associationType !== MEDIA_ALBUM || !parentMessageKey?.id) return undefined;
  return { id: parentMessageKey.id, ...(messageIndex != null && { position: messageIndex }) };
}

const PAYLOAD = Symbol("bytes in place of the fields");

/** The padded plaintext. */
export function payloadOf(message: proto.IMessage & { [PAYLOAD]?: Uint8Array }): Uint8Array {
  const { [PAYLOAD]: bytes } = message;
  return bytes ? writeRandomPadMax16(bytes) : encodeWAMessage(message);
}

const vcardOf = ({ name, phone }: { name: string; phone: string }): string =>
  `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=${phone}:+${phone}\nEND:VCARD\n`;

/** The message inside wrappers such as view-once or ephemeral. */
export function unwrapped(message: proto.IMessage): proto.IMessage {
  const inner =
    message.ephemeralMessage?.message ??
    message.viewOnceMessage?.message ??
    message.viewOnceMessageV2?.message ??
    message.documentWithCaptionMessage?.message ??
    message.editedMessage?.message;
  return inner ? unwrapped(inner) : message;
}

export function filePart(
  message: proto.IMessage,
): { type: "image" | "video" | "audio" | "document" | "sticker" | "ptt"; part: FilePart } | undefined {
  const inner = unwrapped(message);
  for (const type of ["image", "video", "audio", "document", "sticker"] as const) {
    const part = inner[MEDIA_FIELD[type]] as FilePart | null | undefined;
    if (part) return { type: part.ptt ? "ptt" : type, part };
  }
  return undefined;
}

export const textOf = (message: proto.IMessage): string | undefined => {
  const inner = unwrapped(message);
  return inner.conversation ?? inner.extendedTextMessage?.text ?? filePart(inner)?.part.caption ?? undefined;
};

/** A message as a person sees it. `isMe` recognises the viewer's jids. */
export function fromMessage(message: proto.IMessage, isMe: (jid: string) => boolean): SentContent {
  const inner = unwrapped(message);
  const said = bare(inner);
  const context = contextOf(inner);
  const quoted = quoteOf(context, isMe);
  const mentions = context?.mentionedJid?.length ? { mentions: context.mentionedJid } : {};
  const { isForwarded, forwardingScore } = context ?? {};
  const forwarded = isForwarded === true && { forwarded: { score: forwardingScore ?? 0 } };
  const album = albumOf(message);
  return { ...said, ...(quoted && { quoted }), ...mentions, ...forwarded, ...(album && { album }) };
}

function bare(inner: proto.IMessage): SentContent {
  const text = inner.conversation ?? inner.extendedTextMessage?.text;
  if (text !== null && text !== undefined && !filePart(inner)) return { kind: "text", text };
  const { locationMessage: place, contactMessage: card } = inner;
  if (place) {
    return {
      kind: "location",
      latitude: place.degreesLatitude ?? 0,
      longitude: place.degreesLongitude ?? 0,
      ...(place.name && { name: place.name }),
      ...(place.address && { address: place.address }),
    };
  }
  if (card) {
    const vcard = card.vcard ?? "";
    const { phones } = readVcard(vcard);
    const phone = phones.find(({ waid }) => waid)?.waid ?? phones[0]?.number ?? "";
    return { kind: "contact", name: card.displayName ?? "", phone: phone.replace(/\D/g, ""), vcard };
  }
  return bareFile(inner) ?? seenPoll(inner) ?? { kind: "raw", message: proto.Message.create(inner).toJSON() };
}

function bareFile(inner: proto.IMessage): SentContent | undefined {
  const file = filePart(inner);
  if (!file) return undefined;
  const { type, part } = file;
  return {
    kind: "media",
    media_type: type,
    mime_type: part.mimetype ?? "",
    size: Number(part.fileLength ?? 0),
    sha256: Buffer.from(part.fileSha256 ?? []).toString("hex"),
    ...(part.caption && { caption: part.caption }),
    ...(part.fileName && { file_name: part.fileName }),
    ...(part.seconds && { seconds: part.seconds }),
    ...(part.viewOnce && { view_once: true }),
    ...(type !== "image" && bareLook(part)),
  };
}

/** Preview of a file before its download. */
function bareLook(part: FilePart): Partial<SaidMedia> {
  const { waveform, width, height, jpegThumbnail, gifPlayback, isAnimated } = part;
  return {
    ...(waveform?.length && { waveform: [...waveform] }),
    ...(width && { width }),
    ...(height && { height }),
    ...(jpegThumbnail?.length && { thumbnail: Buffer.from(jpegThumbnail).toString("base64") }),
    ...(gifPlayback && { gif_playback: true }),
    ...(isAnimated && { is_animated: true }),
  };
}

export function contextOf(inner: proto.IMessage): proto.IContextInfo | undefined {
  for (const part of Object.values(inner)) {
    if (typeof part === "object" && part !== null && "contextInfo" in part && part.contextInfo) {
      return part.contextInfo as proto.IContextInfo;
    }
  }
  return undefined;
}

function quoteOf(
  context: proto.IContextInfo | undefined,
  isMe: (jid: string) => boolean,
): SaidQuote | undefined {
  if (!context?.stanzaId) return undefined;
  const sender = context.participant ?? undefined;
  const text = context.quotedMessage ? textOf(context.quotedMessage) : undefined;
  return {
    id: context.stanzaId,
    from_me: sender !== undefined && isMe(sender),
    ...(sender && { sender }),
    ...(text !== undefined && { text }),
  };
}
