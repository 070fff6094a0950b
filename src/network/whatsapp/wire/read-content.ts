import { type proto, toNumber } from "baileys";
import { readVcard, type Vcard } from "../../../platform/text/read-vcard.ts";
import { quoteContent } from "../../content/quote-content.ts";
import { truncateText } from "../../content/truncate-text.ts";
import type {
  AdReferral,
  ContactCard,
  Content,
  ContentContext,
  InboundContent,
  Jid,
  MediaContent,
  MediaType,
  MessageId,
  QuotedMessage,
  UnsupportedContent,
} from "../../driver.ts";
import type { WireMessage } from "../baileys-fixes/keep-later-fields.ts";
import { type MediaProto, type StoredMessageKey, toMediaRef } from "../files/whatsapp-media-ref.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { openMessage, unreadKindOf } from "./message-fields.ts";
import { readChoice } from "./read-choice.ts";
import { readWords } from "./read-words.ts";

type Message = WireMessage;
type Context = proto.IContextInfo;
type IsMe = (jid: string | null | undefined) => boolean;

/** The content of an opened message; undefined if phones show nothing. `name`: its key in the network. */
export function readContent(
  message: Message,
  isMe: IsMe,
  name: StoredMessageKey,
): InboundContent | undefined {
  const found = findContent(message, name) ?? readUnsupported(message);
  if (!found) return undefined;
  return { ...found, ...readContext(message, isMe) };
}

/** Ordered by frequency. */
function findContent(message: Message, name?: StoredMessageKey): Content | undefined {
  if (isMasked(message)) return undefined;
  return (
    readText(message) ??
    readMedia(message, name) ??
    readLocation(message) ??
    readContact(message) ??
    readHeader(message, name) ??
    readChoice(message) ??
    readWords(message)
  );
}

/** A code that only the phone itself shows. */
function isMasked({ placeholderMessage, templateMessage, highlyStructuredMessage }: Message): boolean {
  const templates = [templateMessage, highlyStructuredMessage?.hydratedHsm].flatMap((one) => [
    one?.hydratedTemplate,
    one?.hydratedFourRowTemplate,
  ]);
  return placeholderMessage != null || templates.some((one) => one?.maskLinkedDevices === true);
}

function readUnsupported(message: Message): UnsupportedContent | undefined {
  const name = unreadKindOf(message);
  const reason = isMasked(message) ? "masked" : "unknown_kind";
  return name ? { kind: "unsupported", name, reason } : undefined;
}

function readText({ conversation, extendedTextMessage }: Message): Content | undefined {
  const text = conversation || extendedTextMessage?.text;
  return text ? { kind: "text", text } : undefined;
}

const MEDIA: [keyof Message, MediaType][] = [
  ["imageMessage", "image"],
  ["videoMessage", "video"],
  ["ptvMessage", "video"],
  ["audioMessage", "audio"],
  ["documentMessage", "document"],
  ["stickerMessage", "sticker"],
];

function readMedia(message: Message, name: StoredMessageKey | undefined): MediaContent | undefined {
  for (const [field, kind] of MEDIA) {
    const file = message[field] as MediaProto | null | undefined;
    if (!file) continue;
    const type = file.ptt ? "ptt" : kind;
    const sha256 = file.fileSha256 && Buffer.from(file.fileSha256).toString("hex");
    return {
      kind: "media",
      media_type: type,
      mime_type: file.mimetype ?? "application/octet-stream",
      size: toNumber(file.fileLength),
      ...(file.fileName && { file_name: file.fileName }),
      ...(file.caption && { caption: file.caption }),
      ...(sha256 && { sha256 }),
      ...(file.seconds && { seconds: file.seconds }),
      ...readLook(file),
      ...(field === "ptvMessage" && { ptv: true }),
      ref: { ...toMediaRef(file, type), ...(name && { message: name }) },
    };
  }
  return undefined;
}

/** How phones show the file. */
function readLook(file: MediaProto): Partial<MediaContent> {
  return {
    ...(file.viewOnce && { view_once: true }),
    ...(file.gifPlayback && { gif_playback: true }),
    ...((file.isAnimated || file.isLottie) && { is_animated: true }),
    ...(file.pageCount && { page_count: file.pageCount }),
  };
}

function readLocation({ locationMessage, liveLocationMessage }: Message): Content | undefined {
  const place = locationMessage ?? liveLocationMessage;
  if (!place) return undefined;
  const { name = liveLocationMessage?.caption, address } = locationMessage ?? {};
  return {
    kind: "location",
    latitude: place.degreesLatitude ?? 0,
    longitude: place.degreesLongitude ?? 0,
    ...(name && { name }),
    ...(address && { address }),
  };
}

/** A message with more cards is malformed. */
const CARDS_MAX = 50;
/** Limit of each additional card, which may contain a picture. */
const VCARD_MAX = 65_536;

function readContact({ contactMessage, contactsArrayMessage }: Message): Content | undefined {
  const [first, ...others] = contactMessage ? [contactMessage] : (contactsArrayMessage?.contacts ?? []);
  if (!first) return undefined;
  const more = others
    .slice(0, CARDS_MAX - 1)
    .filter(({ vcard }) => (vcard?.length ?? 0) <= VCARD_MAX)
    .map(readCard);
  return { kind: "contact", ...readCard(first), ...(more.length > 0 && { more }) };
}

function readCard({ displayName, vcard }: proto.Message.IContactMessage): ContactCard {
  const read = readVcard(vcard ?? "");
  return { name: displayName || read.name || "", phone: phoneOfCard(read), ...(vcard && { vcard }) };
}

function phoneOfCard({ phones }: Vcard): string {
  const known = phones.find(({ waid }) => waid !== undefined)?.waid;
  return known ?? (phones[0]?.number ?? "").replace(/\D/g, "");
}

/** A file above the text of a message with buttons. */
function readHeader(message: Message, name: StoredMessageKey | undefined): Content | undefined {
  const { interactiveMessage, buttonsMessage, templateMessage } = message;
  const header =
    interactiveMessage?.header ??
    buttonsMessage ??
    templateMessage?.hydratedTemplate ??
    templateMessage?.hydratedFourRowTemplate;
  if (!header) return undefined;
  const caption = readChoice(message)?.text;
  const file = readMedia(header, name);
  return file ? { ...file, ...(caption && { caption }) } : undefined;
}

/** The text of a message, or the caption of its file. */
export function textOf(message: Message): string | undefined {
  const content = findContent(openMessage(message));
  if (content?.kind === "text") return content.text;
  return content?.kind === "media" ? content.caption : undefined;
}

/** The maximum number of group members. */
const MENTIONS_MAX = 1024;
const ID_MAX = 1024;
const URL_MAX = 2048;
const WORDS_MAX = 4096;

/** The context of a message's content: quote, mentions and origin. */
function readContext(message: Message, isMe: IsMe): ContentContext {
  const context = contextOf(message);
  if (!context) return {};
  const quoted = readQuoted(context, isMe);
  const mentions = readMentions(context);
  const ad = readAd(context);
  const times = context.forwardingScore ?? 0;
  const isForwarded = context.isForwarded === true || times > 0;
  return {
    ...(quoted && { quoted }),
    ...(mentions.length > 0 && { mentions }),
    ...(ad && { ad }),
    ...(isForwarded && { forwarded: { score: Math.max(1, times) } }),
  };
}

function contextOf(message: Message): Context | undefined {
  for (const part of Object.values(message)) {
    const context = (part as { contextInfo?: Context } | null | undefined)?.contextInfo;
    if (context) return context;
  }
  return undefined;
}

function readMentions({ mentionedJid }: Context): Jid[] {
  return (mentionedJid ?? []).slice(0, MENTIONS_MAX).flatMap((jid) => plainJid(jid) ?? []);
}

function readQuoted(
  { stanzaId, participant, remoteJid, quotedMessage }: Context,
  isMe: IsMe,
): QuotedMessage | undefined {
  if (!stanzaId) return undefined;
  const sender = plainJid(participant);
  const chat = plainJid(remoteJid);
  const content = quotedMessage && findContent(openMessage(quotedMessage));
  return {
    id: stanzaId as MessageId,
    from_me: isMe(participant),
    ...(sender && { sender }),
    ...(content && quoteContent(content)),
    ...(chat && { chat }),
  };
}

/** The advertisement from which the sender opened the chat. */
function readAd({ externalAdReply, entryPointConversionSource }: Context): AdReferral | undefined {
  const { title, body, sourceType, sourceId, sourceUrl, sourceApp } = externalAdReply ?? {};
  const { mediaUrl, thumbnailUrl, ctwaClid, ref } = externalAdReply ?? {};
  // A link preview that the sender added is no advertisement.
  if (!ctwaClid && !sourceId && sourceType !== "ad") return undefined;
  return {
    source_type: bounded(sourceType, ID_MAX),
    source_id: bounded(sourceId, ID_MAX),
    source_url: bounded(sourceUrl, URL_MAX),
    source_app: bounded(sourceApp, ID_MAX),
    entry_point: bounded(entryPointConversionSource, ID_MAX),
    title: bounded(title, WORDS_MAX),
    body: bounded(body, WORDS_MAX),
    media_url: bounded(mediaUrl, URL_MAX),
    thumbnail_url: bounded(thumbnailUrl, URL_MAX),
    ctwa_clid: bounded(ctwaClid, ID_MAX),
    ref: bounded(ref, ID_MAX),
  };
}

function bounded(text: string | null | undefined, max: number): string | null {
  return text ? truncateText(text, max) : null;
}
