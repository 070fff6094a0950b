import { type Expression, sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Identity, Jid, NetworkEvent, PollContent, UnknownTextReason } from "../../../network/driver.ts";
import { isSamePerson } from "../../../network/identity.ts";
import { isGroupJid } from "../../../network/jid.ts";
import { isUndecrypted } from "../../../network/network-message.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { cleanFromNetwork } from "../../../platform/text/clean-text.ts";
import { addressesOf, canonicalNumberOf } from "../../contacts/contacts.ts";
import { type EventDraft, type EventTag, recordEvents } from "../../events/events.ts";
import { messageEvent } from "./message-events.ts";
import { type MessageRow, pinEndOf, type StoredReaction, selectMessages, wordsOf } from "./message-view.ts";
import { searchWords } from "./search-words.ts";

/** A change of a message, by the instance or the contact. */
export type MessageChange = Extract<
  NetworkEvent,
  { type: "message_edited" | "message_deleted" | "message_reaction" | "message_pinned" | "message_starred" }
>;

/** Why the log stays as it is: the change is not its maker's to make, or not the latest, or cannot be read. */
export type RefusedChangeReason = UnknownTextReason | "other_chat" | "other_author" | "outdated";

/**
 * Records a change that the network reports. With `ifLogged`, ignores messages that are not in the log. Returns why it
 * changes nothing, if so.
 */
export async function recordMessageChange(
  db: Db,
  engine: Engine,
  instanceId: number,
  change: MessageChange,
  ifLogged = false,
): Promise<RefusedChangeReason | undefined> {
  const { lanes, refused } = await db.transaction().execute(async (trx) => {
    const applied = await applyMessageChange(trx, instanceId, cleanFromNetwork(change), ifLogged);
    return { ...applied, lanes: await recordEvents(trx, applied.events) };
  });
  engine.wake(lanes);
  return refused;
}

interface AppliedChange {
  events: EventDraft[];
  refused?: RefusedChangeReason | undefined;
}

/**
 * Changes the logged message and returns the event; none for a known or refused change. Without a logged message,
 * returns only the event.
 */
export async function applyMessageChange(
  trx: Trx,
  instanceId: number,
  change: MessageChange,
  ifLogged = false,
): Promise<AppliedChange> {
  const row = await findMessage(trx, instanceId, change);
  // With its settings, a phone tells of stars on messages that are older than the log.
  const isIgnored = ifLogged || change.type === "message_starred";
  if (!row) return isIgnored ? { events: [] } : applyUnlogged(trx, instanceId, change);
  if (isKnown(row, change)) return { events: [] };
  const refused = await refusalOf(trx, row, change);
  if (refused) return { events: [], refused };
  const content = await applyChange(trx, row, change);
  const about = describe({ ...change, chat: row.jid });
  return {
    events: [messageEvent(EVENT_OF[change.type], { ...row, content }, about)],
    refused: unknownTextReasonOf(change),
  };
}

function unknownTextReasonOf(change: MessageChange): UnknownTextReason | undefined {
  return change.type === "message_edited" ? change.reason : undefined;
}

/** A message of another chat is known: a reader that looks it up by its id must not change it. */
async function applyUnlogged(trx: Trx, instanceId: number, change: MessageChange): Promise<AppliedChange> {
  const event = { events: [unloggedEvent(instanceId, change)], refused: unknownTextReasonOf(change) };
  if (isOpenToAll(change)) return event;
  const elsewhere = await trx
    .selectFrom("message")
    .select(["instance_id", "jid", "from_me", "sender"])
    .where("instance_id", "=", instanceId)
    .where("message_id", "=", change.id)
    .$castTo<WrittenMessage & Pick<MessageRow, "jid">>()
    .execute();
  for (const row of elsewhere) {
    // Of one person there may be two chats for a moment, by number and by LID.
    const isOfOther = isGroupJid(row.jid) || isGroupJid(change.chat) || !(await isWriter(trx, row, change));
    if (isOfOther) return { events: [], refused: "other_chat" };
  }
  return event;
}

/** Only its writer edits a message. Its writer and the own phone delete it, and in a group also an admin. */
async function refusalOf(
  trx: Trx,
  row: MessageRow,
  change: MessageChange,
): Promise<RefusedChangeReason | undefined> {
  if (isOpenToAll(change)) return undefined;
  if (change.type === "message_deleted") {
    const may =
      (await isWriter(trx, row, change)) || (await mayDelete(trx, row.instance_id, row.jid, change.by));
    return may ? undefined : "other_author";
  }
  if (!change.is_open && !(await isWriter(trx, row, change))) return "other_author";
  const isOlder = row.edited_at !== null && change.at.getTime() + SECOND_MS <= row.edited_at.getTime();
  return isOlder ? "outdated" : undefined;
}

/** Everyone in the chat may react to a message; whether a pin is allowed, the network has decided. */
function isOpenToAll(change: MessageChange): change is Exclude<MessageChange, EditOrDeletion> {
  return change.type !== "message_edited" && change.type !== "message_deleted";
}

type EditOrDeletion = Extract<MessageChange, { type: "message_edited" | "message_deleted" }>;

/** The network's times have no smaller part. */
const SECOND_MS = 1000;

type WrittenMessage = Pick<MessageRow, "instance_id" | "from_me" | "sender">;

/** Whether the person may delete what others write in the chat: the own phone, and in a group an admin. */
export async function mayDelete(db: Db, instanceId: number, chat: Jid, by: Identity): Promise<boolean> {
  return (await isMe(db, instanceId, by)) || (await isAdmin(db, instanceId, chat, by));
}

async function isWriter(trx: Trx, row: WrittenMessage, change: MessageChange): Promise<boolean> {
  if (row.from_me)
    return change.type === "message_edited" ? change.from_me : isMe(trx, row.instance_id, change.by);
  return row.sender !== null && isSame(row.sender, change.by);
}

async function isMe(db: Db, instanceId: number, by: Identity): Promise<boolean> {
  return isSame(await findMe(db, instanceId), by);
}

/** The person of the instance. */
export async function findMe(db: Db, instanceId: number): Promise<Identity> {
  const { jid, lid, phone, profile_name } = await db
    .selectFrom("instance")
    .select(["jid", "lid", "phone", "profile_name"])
    .where("id", "=", instanceId)
    .executeTakeFirstOrThrow();
  return { jid: (jid ?? "") as Jid, lid: lid as Jid | null, phone, push_name: profile_name };
}

type Person = Pick<Identity, "jid" | "lid" | "phone">;

/** The network may name a number in either of its two formats. */
function isSame(one: Person, other: Person): boolean {
  if (isSamePerson(one, other)) return true;
  const [phone, otherPhone] = [one.phone, other.phone];
  return phone !== null && otherPhone !== null && canonicalNumberOf(phone) === canonicalNumberOf(otherPhone);
}

/** In a group whose members are not known, the network alone decides. */
export async function isAdmin(db: Db, instanceId: number, chat: Jid, by: Identity): Promise<boolean> {
  if (!isGroupJid(chat)) return false;
  const group = await db
    .selectFrom("group_chat")
    .select("participants")
    .where("instance_id", "=", instanceId)
    .where("jid", "=", chat)
    .$castTo<{ participants: (Person & { admin: string | null })[] }>()
    .executeTakeFirst();
  return !group || group.participants.some((one) => one.admin !== null && isSame(one, by));
}

function findMessage(
  trx: Trx,
  instanceId: number,
  { id, chat }: MessageChange,
): Promise<MessageRow | undefined> {
  return selectMessages(trx)
    .where("m.instance_id", "=", instanceId)
    .where("m.message_id", "=", id)
    .where("m.jid", "in", addressesOf(chat))
    .orderBy(sql`m.jid <> ${chat}`)
    .forUpdate("m")
    .executeTakeFirst();
}

/** After a crash the network reports a change again. Of two edits, the later arrival counts as newer. */
function isKnown(row: MessageRow, change: MessageChange): boolean {
  if (change.type === "message_reaction") return false;
  if (change.type === "message_pinned")
    return change.seconds > 0
      ? row.content.pin?.at === change.at.toISOString()
      : row.content.pin === undefined;
  if (change.type === "message_starred") return (row.content.starred === true) === change.starred;
  if (row.deleted_at) return true;
  if (change.type === "message_deleted") return false;
  return row.edited_at?.getTime() === change.at.getTime() && wordsOf(row.content) === change.text;
}

async function applyChange(trx: Trx, row: MessageRow, change: MessageChange): Promise<MessageRow["content"]> {
  const { content } = row;
  if (change.type === "message_deleted") await update(trx, row.id, { deleted_at: change.at });
  if (change.type === "message_reaction")
    await update(trx, row.id, { content: toJson(react(content, change)) });
  if (change.type === "message_pinned") await update(trx, row.id, { content: toJson(pin(content, change)) });
  if (change.type === "message_starred")
    await update(trx, row.id, { content: toJson(star(content, change)) });
  if (change.type !== "message_edited" || change.text === null || isUndecrypted(row)) return content;
  const edited = editContent(content, change.text, change.poll);
  await update(trx, row.id, { edited_at: change.at, content: toJson(edited) });
  const words = searchWords(row.instance_id, edited);
  await sql`
    update message_search s set words = array_to_tsvector(${words}::text[]) from message m
    where m.id = ${row.id} and s.instance_id = m.instance_id and s.id = m.id
      and s.at = case when m.mode is null then m.sent_at else m.created_at end`.execute(trx);
  return edited;
}

function update(
  trx: Trx,
  id: number,
  set: { deleted_at?: Date; edited_at?: Date; content?: Expression<string> },
) {
  return trx.updateTable("message").set(set).where("id", "=", id).execute();
}

function toJson(content: MessageRow["content"]): Expression<string> {
  return sql`${JSON.stringify(content)}::jsonb`;
}

const MOST_REACTIONS = 1_000;

/** A person has one reaction to a message: the latest, or none after an empty one. */
function react(
  content: MessageRow["content"],
  { by, reaction, at }: Extract<MessageChange, { type: "message_reaction" }>,
): MessageRow["content"] {
  const { reactions: all = [], ...bare } = content;
  const isTheirs = ({ sender }: StoredReaction) =>
    sender.jid === by.jid || (by.lid !== null && sender.lid === by.lid);
  if (all.some((one) => isTheirs(one) && Date.parse(one.at) > at.getTime())) return content;
  const added = reaction === "" ? [] : [{ reaction, sender: by, at: at.toISOString() }];
  const reactions = [...all.filter((one) => !isTheirs(one)), ...added].slice(-MOST_REACTIONS);
  return reactions.length === 0 ? bare : { ...bare, reactions };
}

function pin(
  { pin: _, ...content }: MessageRow["content"],
  { at, seconds }: Extract<MessageChange, { type: "message_pinned" }>,
): MessageRow["content"] {
  return seconds === 0 ? content : { ...content, pin: { at: at.toISOString(), seconds } };
}

function star(
  { starred: _, ...content }: MessageRow["content"],
  change: Extract<MessageChange, { type: "message_starred" }>,
): MessageRow["content"] {
  return change.starred ? { ...content, starred: true } : content;
}

/** Leaves the content of a message without text unchanged. */
function editContent(
  content: MessageRow["content"],
  text: string,
  poll: PollContent | undefined,
): MessageRow["content"] {
  if (content.kind === "text") return { ...content, text, ...(poll && { poll }) };
  return content.kind === "media" ? { ...content, caption: text } : content;
}

const EVENT_OF = {
  message_edited: "message.edited",
  message_deleted: "message.deleted",
  message_reaction: "message.reaction",
  message_pinned: "message.pinned",
  message_starred: "message.starred",
} as const;

function describe(change: MessageChange) {
  const facts = { message_id: change.id, jid: change.chat, at: change.at.toISOString() };
  switch (change.type) {
    case "message_edited":
      return { ...facts, text: change.text, ...(change.reason && { reason: change.reason }), by: change.by };
    case "message_deleted":
      return { ...facts, by: change.by };
    case "message_reaction":
      return { ...facts, reaction: change.reaction, removed: change.reaction === "", sender: change.by };
    case "message_pinned":
      return { ...facts, pinned: change.seconds > 0, pinned_until: pinEndOf(change), by: change.by };
    case "message_starred":
      return { ...facts, starred: change.starred };
  }
}

function unloggedEvent(instance_id: number, change: MessageChange): EventDraft {
  const tags: EventTag[] = [];
  if (change.from_me) tags.push("from_me");
  if (isGroupJid(change.chat)) tags.push("groups");
  const event = EVENT_OF[change.type];
  return { event, instance_id, chat: change.chat, tags, data: describe(change) };
}
