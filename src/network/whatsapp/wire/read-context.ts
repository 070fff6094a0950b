import { normalizeMessageContent, type proto } from "baileys";
import type { AdReferral, Content, ContentContext, Jid, MessageId, QuotedMessage } from "../../driver.ts";
import { quoteContent } from "../../quote-content.ts";
import { truncateText } from "../../truncate-text.ts";
import { plainJid } from "./plain-jid.ts";

type Context = proto.IContextInfo;

/** The maximum number of group members. */
const MENTIONS_MAX = 1024;
const ID_MAX = 1024;
const URL_MAX = 2048;
const WORDS_MAX = 4096;

export interface ContextReaderOptions {
  isMe(jid: string | null | undefined): boolean;
  /** The content of a quoted message. */
  contentOf(message: proto.IMessage): Content | undefined;
}

/** The context of a message's content: quote, mentions and origin. */
export function readContext(message: proto.IMessage, reading: ContextReaderOptions): ContentContext {
  const context = contextOf(message);
  if (!context) return {};
  const quoted = readQuoted(context, reading);
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

function contextOf(message: proto.IMessage): Context | undefined {
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
  { isMe, contentOf }: ContextReaderOptions,
): QuotedMessage | undefined {
  if (!stanzaId) return undefined;
  const sender = plainJid(participant);
  const chat = plainJid(remoteJid);
  const content = quotedMessage && contentOf(normalizeMessageContent(quotedMessage) ?? {});
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
