import { type Selectable, sql } from "kysely";
import { quoteContent } from "../../../network/content/quote-content.ts";
import type {
  ContactCard,
  ContactContent,
  ContentContext,
  Identity,
  Jid,
  LocationContent,
  MediaContent,
  Mentioned,
  MessageId,
  PollContent,
  QuotedMessage,
  TextContent,
  UnsupportedContent,
} from "../../../network/driver.ts";
import { isLidJid, phoneOfJid } from "../../../network/jid.ts";
import { compileOnce } from "../../../platform/db/compile-once.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { MessageTable } from "../../../tables.ts";
import { INSTANCE_SNAPSHOT_SQL, type InstanceSnapshot } from "../../events/events.ts";
import { MEDIA_COLUMNS, type MediaColumns, toMediaView } from "../../media/media.ts";

/** Content as the message row stores it: the driver's union without the bytes. */
export type StoredContent = (TextContent | StoredMedia | LocationContent | ContactContent) & StoredContext;

/** Content of any message row. */
export type LoggedContent = StoredContent | (UnsupportedContent & StoredContext);

type StoredContext = ContentContext & {
  reactions?: StoredReaction[];
  pin?: StoredPin;
  starred?: true;
  ask?: StoredAsk;
};

/** Since when a message is at the top of its chat, in ISO 8601, and for how long. */
export interface StoredPin {
  at: string;
  seconds: number;
}

/** What a message asks, with the ids that its sender has given to the options. */
export interface StoredAsk {
  options: { id: string; text: string }[];
  /** ISO 8601: later answers do not count. */
  expires_at?: string;
  /** ISO 8601. Absent: nobody has answered yet. */
  answered_at?: string;
}

/** The latest reaction of a person to a message. */
export interface StoredReaction {
  reaction: string;
  sender: Identity;
  /** ISO 8601. */
  at: string;
}

export type StoredMedia = Omit<MediaContent, "bytes"> & {
  /** Outbound without an outcome: the id of the pending file. */
  upload?: string;
  /** The pending file of a campaign, which all its messages share. */
  shared?: string;
  converted?: MediaConversion;
};

/** A file that phones would not show or play: its type, and the type or the kind as which it was sent. */
export interface MediaConversion {
  from: string;
  to: string;
  /** Why it was not converted better. */
  reason?: "no_ffmpeg";
}

/** For a message `m`: the pending file that is sent with it. */
export const PENDING_UPLOAD_SQL = sql<
  string | null
>`coalesce(m.content ->> 'upload', m.content ->> 'shared')`;

/** A message with the name of its chat. */
export interface MessageRow
  extends Omit<Selectable<MessageTable>, "content" | "jid" | "message_id" | "sender">,
    Omit<MediaColumns, "instance_id"> {
  content: LoggedContent;
  jid: Jid;
  message_id: MessageId;
  sender: Identity | null;
  chat_lid: string | null;
  chat_phone: string | null;
  title: string | null;
  chat_type: "contact" | "group";
  /** Present only if it was read for an event. */
  snapshot?: InstanceSnapshot;
}

/** The type of a message that the gateway cannot read. */
export const UNSUPPORTED_TYPE = "unsupported" satisfies UnsupportedContent["kind"];

/** Messages with their chats; the caller adds conditions. */
export function selectMessages(db: Db | Trx) {
  return db
    .selectFrom("message as m")
    .innerJoin("conversation as c", "c.id", "m.conversation_id")
    .leftJoin("contact as p", "p.id", "c.contact_id")
    .leftJoin("media as f", "f.message", "m.id")
    .selectAll("m")
    .select(MEDIA_COLUMNS)
    .select(["c.type as chat_type", "p.lid as chat_lid"])
    .select([
      sql<string | null>`coalesce(p.phone, c.phone)`.as("chat_phone"),
      sql<string | null>`coalesce(p.name, p.push_name, p.verified_name, c.title)`.as("title"),
    ])
    .$castTo<MessageRow>();
}

/** For a message `m`: a request names it by its row number or by the network's id. */
export function isNamed(messageId: string) {
  return /^\d{1,15}$/.test(messageId)
    ? sql<boolean>`m.id = ${Number(messageId)}`
    : sql<boolean>`m.message_id = ${messageId}`;
}

/** The message as reads show it, including its later changes. */
export function toStoredMessageView(row: MessageRow) {
  return {
    ...toMessageView(row),
    send_at: row.send_at?.toISOString() ?? null,
    edited_at: row.edited_at?.toISOString() ?? null,
    deleted_at: row.deleted_at?.toISOString() ?? null,
    reactions: row.content.reactions ?? [],
    pinned_until: pinEndOf(row.content.pin),
    starred: row.content.starred === true,
  };
}

/** In ISO 8601; null for a message that is not pinned, or no longer. */
export function pinEndOf(pin: { at: string | Date; seconds: number } | undefined): string | null {
  const end = new Date(pin?.at ?? 0).getTime() + (pin?.seconds ?? 0) * 1000;
  return end > Date.now() ? new Date(end).toISOString() : null;
}

/** Messages in order of row numbers, with the other data of their events. */
export function selectForEvents(trx: Trx) {
  return selectMessages(trx)
    .innerJoin("instance as i", "i.id", "m.instance_id")
    .select(INSTANCE_SNAPSHOT_SQL.as("snapshot"))
    .orderBy("m.id")
    .$castTo<MessageRow>();
}

/** `selectForEvents` for a statement in which `message` is a CTE of changed rows, not the table. */
export const selectChangedForEvents = compileOnce(selectForEvents);

/** The current state of these messages. */
export function readForEvents(trx: Trx, messages: readonly Pick<MessageRow, "id">[]): Promise<MessageRow[]> {
  const ids = messages.map(({ id }) => id);
  return selectForEvents(trx)
    .modifyFront(PREPARED_STATEMENT)
    .where(sql<boolean>`m.id in (select unnest(${ids}::bigint[]) ${rowCountHint(ids)})`)
    .execute();
}

/** The message as events and responses show it. */
export function toMessageView(row: MessageRow) {
  const { content } = row;
  return {
    id: row.id,
    message_id: row.message_id,
    direction: row.direction,
    from_me: row.from_me,
    jid: row.jid,
    lid: row.chat_lid,
    phone: row.chat_phone,
    chat_type: row.chat_type,
    is_group: row.chat_type === "group",
    sender: row.sender,
    type: row.type,
    text: content.kind === "text" ? content.text : null,
    caption: content.kind === "media" ? (content.caption ?? null) : null,
    quoted: content.quoted ?? null,
    mentions: content.mentions ?? [],
    mentioned: toMentioned(content),
    media: content.kind === "media" ? toMediaView(row, content) : null,
    ...toAlbumView(content),
    location: content.kind === "location" ? toLocationView(content) : null,
    contacts: content.kind === "contact" ? [content, ...(content.more ?? [])].map(toCardView) : null,
    choice: content.kind === "text" ? (content.choice ?? null) : null,
    group_invite: content.kind === "text" ? (content.invite ?? null) : null,
    ...toPollView(content),
    unsupported: toUnsupportedView(content),
    ad: content.ad ?? null,
    is_forwarded: content.forwarded !== undefined,
    forwarding_score: content.forwarded?.score ?? 0,
    status: row.status,
    origin: row.origin,
    timestamp: row.sent_at.toISOString(),
    track_id: row.track_id,
  };
}

/** The text of a message, or the caption of its file. */
export function wordsOf(content: LoggedContent): string | undefined {
  if (content.kind === "text") return content.text;
  return content.kind === "media" ? content.caption : undefined;
}

export type MessageView = ReturnType<typeof toMessageView>;

/** The message as a reply to `to` quotes it. */
export function toQuoted(
  { message_id: id, from_me, sender, jid: chat, content }: MessageRow,
  to: Jid,
): QuotedMessage {
  return {
    id,
    from_me,
    ...(sender && { sender: sender.jid }),
    ...quoteContent(content),
    ...(chat !== to && { chat }),
  };
}

/** The chat as events show it. */
export function toConversationView(row: MessageRow) {
  return {
    id: row.conversation_id,
    jid: row.jid,
    phone: row.chat_phone,
    title: row.title,
    type: row.chat_type,
  };
}

/** Includes all known addresses: the text may contain an address that `mentions` does not. */
function toMentioned({ mentioned, mentions = [] }: LoggedContent): Mentioned[] {
  if (mentioned) return mentioned;
  return mentions.map((jid) => ({ jid, lid: isLidJid(jid) ? jid : null, phone: phoneOfJid(jid) }));
}

function toAlbumView(content: LoggedContent) {
  if (content.kind !== "media" || !content.album) return {};
  const { id, position } = content.album;
  return { album: { id, position: position ?? null } };
}

function toLocationView({ latitude, longitude, name, address }: LocationContent) {
  return { latitude, longitude, name: name ?? null, address: address ?? null };
}

function toPollView(content: LoggedContent): { poll?: PollView } {
  if (content.kind !== "text" || !content.poll) return {};
  const { hide_voters, ends_at, ...poll } = content.poll;
  return { poll: { ...poll, hide_voters: hide_voters === true, ends_at: ends_at ?? null } };
}

type PollView = Omit<PollContent, "hide_voters" | "ends_at"> & {
  hide_voters: boolean;
  ends_at: string | null;
};

function toUnsupportedView(content: LoggedContent) {
  return content.kind === "unsupported" ? { kind: content.name, reason: content.reason } : null;
}

function toCardView({ name, phone, vcard }: ContactCard) {
  return { name, phone, vcard: vcard ?? null };
}
