import { proto } from "baileys";
import { writeVcard } from "../../content/write-vcard.ts";
import type {
  AlbumItem,
  ContactContent,
  Content,
  ContentContext,
  Jid,
  LinkPreview,
  LocationContent,
  MediaContent,
  MediaType,
  QuotedContent,
  QuotedMessage,
  StatusContent,
  TextContent,
} from "../../driver.ts";
import { omitReportingToken } from "../baileys-fixes/omit-reporting-token.ts";
import { fromMediaRef, isMediaRef, type MediaProto } from "../files/whatsapp-media-ref.ts";
import { writePoll } from "./poll/write-poll.ts";

type Message = proto.IMessage;

export interface WriteContentContext {
  to: Jid;
  me: Jid;
  /** For a file: the uploaded part. */
  file?: MediaProto;
  /** Under which recipients encrypt reactions and comments in announcement groups, and the own phone its edits. */
  secret: Uint8Array;
}

export function writeContent(content: Content, { to, me, file, secret }: WriteContentContext): Message {
  const message = writeKind(content, writeContext(content, to, me), file);
  const messageAssociation = writeAssociation(content, to);
  return omitReportingToken({
    ...message,
    messageContextInfo: { messageSecret: secret, ...(messageAssociation && { messageAssociation }) },
  });
}

/** The message that holds the items of an album together. It goes out before them. */
export function writeAlbum(content: Content, album: AlbumItem, { to, me }: WriteContentContext): Message {
  const contextInfo = writeContext(content, to, me);
  const { images: expectedImageCount, videos: expectedVideoCount } = album;
  return { albumMessage: { expectedImageCount, expectedVideoCount, contextInfo } };
}

function writeAssociation(content: Content, to: Jid): proto.IMessageAssociation | undefined {
  if (content.kind !== "media" || !content.album) return undefined;
  const parentMessageKey = { remoteJid: to, fromMe: true, id: content.album.id };
  return { associationType: proto.MessageAssociation.AssociationType.MEDIA_ALBUM, parentMessageKey };
}

/** A story: its text has a colour and a font, also if none was chosen, as phones write it. */
export function writeStatus(content: StatusContent, secret: Uint8Array, file?: MediaProto): Message {
  const message =
    content.kind === "media"
      ? writeMedia(content, undefined, file)
      : {
          extendedTextMessage: {
            text: content.text,
            textArgb: WHITE,
            backgroundArgb: content.background ?? DARK_GREEN,
            font: content.font ?? 0,
          },
        };
  return omitReportingToken({ ...message, messageContextInfo: { messageSecret: secret } });
}

const WHITE = 0xffffffff;
const DARK_GREEN = 0xff1e6e4f;

/** Builds a sent message again, for a recipient who could not decrypt it; undefined if its file is unknown. */
export function writeResentContent(content: Content, written: WriteContentContext): Message | undefined {
  if (content.kind !== "media") return writeContent(content, written);
  return isMediaRef(content.ref)
    ? writeContent(content, { ...written, file: fromMediaRef(content.ref) })
    : undefined;
}

function writeKind(
  content: Content,
  contextInfo: proto.IContextInfo | undefined,
  file?: MediaProto,
): Message {
  switch (content.kind) {
    case "text":
      return writeText(content, contextInfo);
    case "media":
      return writeMedia(content, contextInfo, file);
    case "location":
      return { locationMessage: { ...writeLocation(content), contextInfo } };
    case "contact":
      return writeCards(content, contextInfo);
  }
}

function writeCards(
  { more = [], ...first }: Omit<ContactContent, "kind">,
  contextInfo: proto.IContextInfo | undefined,
): Message {
  const cards = [first, ...more].map((card) => ({
    displayName: card.name,
    vcard: card.vcard ?? writeVcard(card),
  }));
  if (more.length === 0) return { contactMessage: { ...cards[0], contextInfo } };
  return {
    contactsArrayMessage: { displayName: `${cards.length} contacts`, contacts: cards, contextInfo },
  };
}

function writeText(
  { text, preview, poll }: TextContent,
  contextInfo: proto.IContextInfo | undefined,
): Message {
  if (poll) return writePoll(poll, contextInfo);
  if (!contextInfo && !preview) return { conversation: text };
  return { extendedTextMessage: { text, contextInfo, ...(preview && writePreview(preview)) } };
}

function writePreview({
  url,
  title,
  description,
  thumbnail,
}: LinkPreview): proto.Message.IExtendedTextMessage {
  return {
    matchedText: url,
    title,
    description,
    previewType: proto.Message.ExtendedTextMessage.PreviewType.NONE,
    ...(thumbnail && { jpegThumbnail: Buffer.from(thumbnail, "base64") }),
  };
}

function writeMedia(
  content: MediaContent,
  contextInfo: proto.IContextInfo | undefined,
  file?: MediaProto,
): Message {
  const { caption, file_name, media_type, width, height } = content;
  const common = { ...file, mimetype: content.mime_type, contextInfo };
  // Without the wrapper of older clients: WhatsApp Web marks the file itself.
  const once = content.view_once && { viewOnce: true };
  const seconds = content.seconds ?? file?.seconds ?? undefined;
  switch (media_type) {
    case "image":
      return { imageMessage: { ...common, caption, ...once } };
    case "video": {
      const video = { ...common, caption, seconds, ...writeVideoPreview(content), ...once };
      return content.ptv ? { ptvMessage: video } : { videoMessage: video };
    }
    case "audio":
    case "ptt":
      return {
        audioMessage: {
          ...common,
          seconds,
          ptt: media_type === "ptt",
          waveform: writeWaveform(content),
          ...once,
        },
      };
    case "document":
      return writeDocument({
        ...common,
        fileName: file_name ?? "file",
        title: file_name,
        caption,
        pageCount: content.page_count,
      });
    case "sticker":
      return { stickerMessage: { ...common, width, height, isAnimated: content.is_animated } };
  }
}

/** The preview that a phone shows before it downloads a video. */
function writeVideoPreview({
  width,
  height,
  thumbnail,
  gif_playback,
}: MediaContent): proto.Message.IVideoMessage {
  const jpegThumbnail = thumbnail === undefined ? undefined : Buffer.from(thumbnail, "base64");
  return { width, height, jpegThumbnail, gifPlayback: gif_playback };
}

function writeWaveform({ waveform }: MediaContent): Uint8Array | undefined {
  return waveform && Uint8Array.from(waveform);
}

/** Phones show the caption of a document only in this wrapper. */
function writeDocument(documentMessage: proto.Message.IDocumentMessage): Message {
  if (!documentMessage.caption) return { documentMessage };
  return { documentWithCaptionMessage: { message: { documentMessage } } };
}

function writeLocation({
  latitude,
  longitude,
  name,
  address,
}: LocationContent): proto.Message.ILocationMessage {
  return { degreesLatitude: latitude, degreesLongitude: longitude, name, address };
}

function writeContext(
  { quoted, mentions, forwarded }: Content,
  to: Jid,
  me: Jid,
): proto.IContextInfo | undefined {
  if (!quoted && !mentions?.length && !forwarded) return undefined;
  return {
    ...(quoted && writeQuoted(quoted, to, me)),
    ...(mentions?.length && { mentionedJid: mentions }),
    ...(forwarded && { isForwarded: true, forwardingScore: forwarded.score }),
  };
}

function writeQuoted(quoted: QuotedMessage, to: Jid, me: Jid): proto.IContextInfo {
  const { id, from_me, sender, chat = to } = quoted;
  return {
    stanzaId: id,
    participant: from_me ? me : (sender ?? to),
    quotedMessage: writeQuotedMessage(quoted),
    ...(chat !== to && { remoteJid: chat }),
  };
}

/** The recipient's client finds the message by its id, and shows this if it no longer has the message. */
function writeQuotedMessage({ text, content }: QuotedMessage): Message {
  if (!content) return { conversation: text ?? "" };
  if (content.kind !== "media") return writeKind(content, undefined);
  const message = writeMedia({ ...content, ...(text && { caption: text }) }, undefined, describe(content));
  return message.documentWithCaptionMessage?.message ?? message;
}

function describe({ size, sha256 }: QuotedContent & { kind: "media" }): MediaProto {
  return { fileLength: size, ...(sha256 && { fileSha256: Buffer.from(sha256, "hex") }) };
}

/**
 * An edit of a sent message, by its key from our view. With a media type, the text is the caption of its
 * file.
 */
export function writeEdit(
  key: proto.IMessageKey,
  { text, mentions }: TextContent & ContentContext,
  type?: MediaType,
): Message {
  const contextInfo = mentions?.length ? { mentionedJid: mentions } : undefined;
  return {
    protocolMessage: {
      key,
      type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
      editedMessage: writeEdited(text, type, contextInfo),
      timestampMs: Date.now(),
    },
  };
}

/** An edit does not include the file itself. */
function writeEdited(
  text: string,
  type: MediaType | undefined,
  contextInfo: proto.IContextInfo | undefined,
): Message {
  const caption = { caption: text, ...(contextInfo && { contextInfo }) };
  switch (type) {
    case "image":
      return { imageMessage: caption };
    case "video":
      return { videoMessage: caption };
    case "document":
      return { documentWithCaptionMessage: { message: { documentMessage: caption } } };
    default:
      return contextInfo ? { extendedTextMessage: { text, contextInfo } } : { conversation: text };
  }
}

export function writeRevoke(key: proto.IMessageKey): Message {
  return { protocolMessage: { key, type: proto.Message.ProtocolMessage.Type.REVOKE } };
}

/** An empty reaction removes the previous one. */
export function writeReaction(key: proto.IMessageKey, text: string): Message {
  return { reactionMessage: { key, text, senderTimestampMs: Date.now() } };
}

const { PIN_FOR_ALL, UNPIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;

/** Zero seconds unpin the message. */
export function writePin(key: proto.IMessageKey, seconds: number): Message {
  return {
    pinInChatMessage: {
      key,
      type: seconds > 0 ? PIN_FOR_ALL : UNPIN_FOR_ALL,
      senderTimestampMs: Date.now(),
    },
    messageContextInfo: { messageAddOnDurationInSecs: seconds },
  };
}
