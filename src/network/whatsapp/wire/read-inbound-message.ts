import { proto, type WAMessage, type WAMessageKey } from "baileys";
import type {
  Identity,
  InboundContent,
  Jid,
  MessageId,
  NetworkEvent,
  NetworkMessage,
  UnsupportedContent,
  UnsupportedMessage,
} from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import { rawBytesOf, type WireMessage } from "../baileys-fixes/keep-later-fields.ts";
import type { StoredMessageKey } from "../files/whatsapp-media-ref.ts";
import type { DecryptedMessage } from "../journal/read-stanza.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { TimerStore } from "../keys/timer-store.ts";
import { readTimer } from "../stanzas/chat-timer.ts";
import { isBroadcastList, parseTimestamp, STORIES } from "../stanzas/stanza.ts";
import { associationUseOf, isViewOnce, openMessage } from "./message-fields.ts";
import { readAlbum } from "./read-album.ts";
import { readContent } from "./read-content.ts";
import { secretIn, toSecret } from "./sealed/message-secret.ts";
import { editedTextOf, editTime, readSealed, type SealedEvent } from "./sealed/read-sealed.ts";

/** The fields that all events about one message share. */
interface MessageFrame {
  chat: Jid;
  id: MessageId;
  from_me: boolean;
  sender: Identity;
  at: Date;
  identities: IdentityStore;
}

/**
 * The event of a message, an edit, a deletion or a reaction; undefined if users would see nothing. `timers` learns the
 * timer that the message states.
 */
export async function readInboundMessage(
  { message, stanza, undecoded }: DecryptedMessage,
  identities: IdentityStore,
  timers?: TimerStore,
): Promise<NetworkEvent | SealedEvent | undefined> {
  if (!message.message && !undecoded) return undefined;
  const body = openMessage(message.message ?? {});
  if (stanza.from === STORIES) return readStory(message, stanza, identities);
  const frame = await frameOf(message, stanza, identities);
  if (!frame) return undefined;
  if (timers) await learnTimer(message.key, frame, body, timers);
  const read = (one: WireMessage) => readContent(one, (jid) => identities.isMe(jid), nameOf(message.key));
  const change = readChange(frame, body, read);
  if (change) return change.event;
  const found = readFile(message.message, body, read) ?? (undecoded && UNDECODED);
  if (!found) return undefined;
  const content = await withPhoneNumbers(found, frame);
  const secret = secretIn(message.message) ?? secretIn(body) ?? toSecret(message.messageSecret);
  const event = toMessageEvent(frame, content);
  if (secret) event.message.secret = secret;
  if (content.kind === "unsupported") keepBytes(event.message, undecoded ?? rawBytesOf(message.message));
  if (stanza.offline !== undefined) event.message.offline = true;
  return event;
}

/** The content, of a file with what the message around it says. */
function readFile(
  whole: WireMessage | null | undefined,
  body: WireMessage,
  read: ReadContent,
): InboundContent | undefined {
  const content = read(body);
  if (content?.kind !== "media") return content;
  const album = readAlbum(body);
  return { ...content, ...(isViewOnce(whole ?? {}) && { view_once: true }), ...(album && { album }) };
}

/** The event of another person's story; undefined for a change of one. */
async function readStory(
  { key, message }: WAMessage,
  { participant = "", participant_pn, participant_lid, id = "", t, notify }: Record<string, string>,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const body = openMessage(message ?? {});
  const content = readContent(body, (jid) => identities.isMe(jid), nameOf(key));
  if (!content || identities.isMe(participant)) return undefined;
  const by = await identities.identify(participant, participant_pn ?? participant_lid, notify);
  return by && { type: "status_received", id: id as MessageId, by, content, at: parseTimestamp(t) };
}

async function learnTimer(
  { remoteJid }: WAMessageKey,
  { chat, from_me, at }: MessageFrame,
  body: WireMessage,
  timers: TimerStore,
): Promise<void> {
  // What our phone writes to a list says nothing about the chat with each recipient.
  if (from_me && isBroadcastList(remoteJid ?? "")) return;
  const timer = readTimer(body, at);
  if (timer) await timers.learn(chat, timer);
}

/** Files are not in a message: it has at most a long text and a preview, and a part of it could not be read. */
const MOST_RAW_BYTES = 65_536;

function keepBytes(message: NetworkMessage, raw: Uint8Array | undefined): void {
  if (raw && raw.length <= MOST_RAW_BYTES) message.raw = Buffer.from(raw).toString("base64");
}

/** A message that an earlier version could not read, as history; undefined if this one cannot either. */
export async function readAgain(
  { raw, ...message }: UnsupportedMessage,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const { chat, id, from_me, sender } = message;
  const whole = decodeMessage(Buffer.from(raw, "base64"));
  const body = openMessage(whole?.deviceSentMessage?.message ?? whole ?? {});
  const name = nameOf({
    remoteJid: await identities.addressOf(chat),
    id,
    fromMe: from_me,
    ...(isGroupJid(chat) && { participant: sender.lid ?? sender.jid }),
  });
  const found = readContent(body, (jid) => identities.isMe(jid), name);
  if (!found || found.kind === "unsupported") return undefined;
  const content = await withPhoneNumbers(found, { chat, identities });
  const secret = secretIn(whole ?? {}) ?? secretIn(body);
  return { type: "message", message: { ...message, content, ...(secret && { secret }), history: true } };
}

function decodeMessage(bytes: Uint8Array): proto.IMessage | undefined {
  try {
    return proto.Message.decode(bytes);
  } catch {
    return undefined;
  }
}

const UNDECODED: UnsupportedContent = { kind: "unsupported", name: "undecoded", reason: "unknown_kind" };

/** The event of a message of which the network, or the session, does not give the content. */
export async function readWithoutContent(
  { message, stanza }: DecryptedMessage,
  content: UnsupportedContent,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const frame = await frameOf(message, stanza, identities);
  return frame && toMessageEvent(frame, content);
}

function toMessageEvent({ chat, id, from_me, sender, at }: MessageFrame, content: InboundContent) {
  const chat_type: NetworkMessage["chat_type"] = isGroupJid(chat) ? "group" : "contact";
  const message: NetworkMessage = { id, chat, chat_type, from_me, sender, content, at };
  return { type: "message" as const, message };
}

/** Groups and replies identify people by LID; replaces it with the phone number if known. */
async function withPhoneNumbers(
  content: InboundContent,
  { chat, identities }: Pick<MessageFrame, "chat" | "identities">,
): Promise<InboundContent> {
  const { mentions, quoted } = content;
  if (!mentions && !quoted?.sender) return content;
  const named = await identities.identifyIn(chat, mentions ?? []);
  const known = named.flatMap((one) => (one ? [{ jid: one.jid, lid: one.lid, phone: one.phone }] : []));
  const [author] = quoted?.sender ? await identities.identifyIn(chat, [quoted.sender]) : [];
  const sender = quoted?.sender && (author?.jid ?? quoted.sender);
  return {
    ...content,
    ...(mentions && { mentions: known.map(({ jid }) => jid), mentioned: known }),
    ...(quoted && { quoted: { ...quoted, ...(sender && { sender }) } }),
  };
}

function nameOf({ remoteJid, id, fromMe, participant }: WAMessageKey): StoredMessageKey {
  return {
    remoteJid: remoteJid ?? "",
    id: id ?? "",
    fromMe: fromMe === true,
    ...(participant && { participant }),
  };
}

async function frameOf(
  { key, pushName }: WAMessage,
  stanza: Record<string, string>,
  identities: IdentityStore,
): Promise<MessageFrame | undefined> {
  const { from = "", participant, recipient } = stanza;
  const isList = isBroadcastList(from);
  const from_me = key.fromMe === true || (isList && identities.isMe(participant));
  // Our phone's message to a list belongs to no chat until its recipients are known.
  if (isList && from_me) return undefined;
  const chat = isList
    ? await identities.chatOf(participant ?? "", participantAlias(stanza))
    : await identities.chatOf(recipient ?? from, recipient ? recipientAlias(stanza) : senderAlias(stanza));
  if (!chat || !key.id) return undefined;
  const sender = from_me
    ? identities.me
    : await identities.identify(
        participant ?? from,
        participantAlias(stanza) ?? senderAlias(stanza),
        pushName,
      );
  if (!sender) return undefined;
  return { chat, id: key.id as MessageId, from_me, sender, at: parseTimestamp(stanza.t), identities };
}

function senderAlias({ participant, sender_pn, sender_lid }: Record<string, string>): string | undefined {
  return participant ? undefined : (sender_pn ?? sender_lid);
}

function participantAlias({ participant_pn, participant_lid }: Record<string, string>): string | undefined {
  return participant_pn ?? participant_lid;
}

/** The other address of the chat to which our phone sent the message. */
function recipientAlias(stanza: Record<string, string>): string | undefined {
  const { recipient_pn, recipient_lid, peer_recipient_pn, peer_recipient_lid } = stanza;
  return peer_recipient_pn ?? recipient_pn ?? peer_recipient_lid ?? recipient_lid;
}

type ReadContent = (message: WireMessage) => InboundContent | undefined;

/** A message that changes another one, and its event, if it has one. */
function readChange(
  frame: MessageFrame,
  body: WireMessage,
  read: ReadContent,
): { event: NetworkEvent | SealedEvent | undefined } | undefined {
  const parent = parentOf(body);
  if (parent) return { event: readCopy(frame, parent, read) };
  if (body.reactionMessage) return { event: readReaction(frame, body.reactionMessage) };
  if (body.pinInChatMessage) return { event: readPin(frame, body) };
  const sealed = readSealed(body, { ...frame, by: frame.sender });
  if (sealed) return { event: sealed };
  return body.protocolMessage ? { event: readProtocol(frame, body.protocolMessage) } : undefined;
}

interface Parent {
  message: WireMessage;
  key: proto.IMessageKey | null | undefined;
  /** Whether phones show this copy in place of the first one. */
  isBetter: boolean;
}

/** The earlier message of which this one has a part, or another copy of the file. */
function parentOf(body: WireMessage): Parent | undefined {
  const use = associationUseOf(body);
  if (use === "shown") return undefined;
  const key = body.messageContextInfo?.messageAssociation?.parentMessageKey;
  // Newer phones send it in the form of an edit.
  const edited = body.protocolMessage?.editedMessage;
  return { message: edited ? openMessage(edited) : body, key, isBetter: use === "better" };
}

function readCopy(
  frame: MessageFrame,
  { message, key, isBetter }: Parent,
  read: ReadContent,
): NetworkEvent | undefined {
  const file = read(message);
  if (!isBetter || !key?.id || file?.kind !== "media") return undefined;
  return { type: "message_file_replaced", ...about(frame, key.id, frame.from_me), file };
}

function readReaction(
  frame: MessageFrame,
  { key, text }: proto.Message.IReactionMessage,
): NetworkEvent | undefined {
  if (!key?.id) return undefined;
  return {
    type: "message_reaction",
    ...about(frame, key.id, key.fromMe === true),
    reaction: text ?? "",
  };
}

const { PIN_FOR_ALL, UNPIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;
/** Of a pin from an app that does not say how long. */
const USUAL_PIN_SECONDS = 604_800;
/** More is malformed: the apps offer at most 30 days. */
const LONGEST_PIN_SECONDS = 366 * 86_400;

function readPin(
  frame: MessageFrame,
  { pinInChatMessage, messageContextInfo }: WireMessage,
): NetworkEvent | undefined {
  const { key, type } = pinInChatMessage ?? {};
  if (!key?.id || (type !== PIN_FOR_ALL && type !== UNPIN_FOR_ALL)) return undefined;
  const stated = messageContextInfo?.messageAddOnDurationInSecs || USUAL_PIN_SECONDS;
  const seconds = type === PIN_FOR_ALL ? Math.min(stated, LONGEST_PIN_SECONDS) : 0;
  const isMine = frame.from_me || isGroupJid(frame.chat) ? isFromMe(frame, key) : key.fromMe !== true;
  return { type: "message_pinned", ...about(frame, key.id, isMine), seconds };
}

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

function readProtocol(
  frame: MessageFrame,
  { type, key, editedMessage, timestampMs }: proto.Message.IProtocolMessage,
): NetworkEvent | undefined {
  if (!key?.id) return undefined;
  if (type === MESSAGE_EDIT) {
    const text = editedMessage && editedTextOf(editedMessage);
    if (text === undefined || text === null) return { type: "change_ignored", reason: "undecryptable" };
    const at = editTime(frame, timestampMs);
    return { type: "message_edited", ...about(frame, key.id, frame.from_me), text, at };
  }
  if (type !== REVOKE) return undefined;
  return { type: "message_deleted", ...about(frame, key.id, isFromMe(frame, key)) };
}

/** The key is written from the point of view of the person who deletes or pins the message. */
function isFromMe({ from_me, identities }: MessageFrame, key: proto.IMessageKey): boolean {
  if (from_me) return key.fromMe === true;
  return key.fromMe !== true && identities.isMe(key.participant ?? undefined);
}

function about({ chat, sender, at }: MessageFrame, id: string, from_me: boolean) {
  return { chat, id: id as MessageId, from_me, by: sender, at };
}
