import { type Expression, sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { NetworkEvent } from "../../../network/driver.ts";
import { isGroupJid } from "../../../network/jid.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { cleanJson } from "../../../platform/text/clean-text.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import { type EventDraft, type EventTag, recordEvents } from "../../events/events.ts";
import { messageEvent } from "../message-events.ts";
import { type MessageRow, type StoredReaction, selectMessages } from "./message-view.ts";
import { searchWords } from "./search-words.ts";

/** An edit, a deletion or a reaction, by the instance or the contact. */
export type MessageChange = Extract<
  NetworkEvent,
  { type: "message_edited" | "message_deleted" | "message_reaction" }
>;

/** Records a change that the network reports. With `ifLogged`, ignores messages that are not in the log. */
export async function recordMessageChange(
  db: Db,
  engine: Engine,
  instanceId: number,
  change: MessageChange,
  ifLogged = false,
): Promise<void> {
  const lanes = await db
    .transaction()
    .execute(async (trx) =>
      recordEvents(trx, await applyMessageChange(trx, instanceId, cleanJson(change), ifLogged)),
    );
  engine.wake(lanes);
}

/**
 * Changes the logged message and returns the event; none for a known change. Without a logged message,
 * returns only the event.
 */
export async function applyMessageChange(
  trx: Trx,
  instanceId: number,
  change: MessageChange,
  ifLogged = false,
): Promise<EventDraft[]> {
  const row = await findMessage(trx, instanceId, change);
  if (!row) return ifLogged ? [] : [unloggedEvent(instanceId, change)];
  if (isKnown(row, change)) return [];
  const content = await applyChange(trx, row, change);
  return [messageEvent(EVENT_OF[change.type], { ...row, content }, describe({ ...change, chat: row.jid }))];
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
  if (row.deleted_at) return true;
  if (change.type === "message_deleted") return false;
  return row.edited_at?.getTime() === change.at.getTime() && wordsOf(row.content) === change.text;
}

function wordsOf(content: MessageRow["content"]): string | undefined {
  if (content.kind === "text") return content.text;
  return content.kind === "media" ? content.caption : undefined;
}

async function applyChange(trx: Trx, row: MessageRow, change: MessageChange): Promise<MessageRow["content"]> {
  const { content } = row;
  if (change.type === "message_deleted") await update(trx, row.id, { deleted_at: change.at });
  if (change.type === "message_reaction")
    await update(trx, row.id, { content: toJson(react(content, change)) });
  if (change.type !== "message_edited") return content;
  const edited = editContent(content, change.text);
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

/** Leaves the content of a message without text unchanged. */
function editContent(content: MessageRow["content"], text: string): MessageRow["content"] {
  if (content.kind === "text") return { ...content, text };
  return content.kind === "media" ? { ...content, caption: text } : content;
}

const EVENT_OF = {
  message_edited: "message.edited",
  message_deleted: "message.deleted",
  message_reaction: "message.reaction",
} as const;

function describe(change: MessageChange) {
  const facts = { message_id: change.id, jid: change.chat, at: change.at.toISOString() };
  switch (change.type) {
    case "message_edited":
      return { ...facts, text: change.text, by: change.by };
    case "message_deleted":
      return { ...facts, by: change.by };
    case "message_reaction":
      return { ...facts, reaction: change.reaction, removed: change.reaction === "", sender: change.by };
  }
}

function unloggedEvent(instance_id: number, change: MessageChange): EventDraft {
  const tags: EventTag[] = [];
  if (change.from_me) tags.push("from_me");
  if (isGroupJid(change.chat)) tags.push("groups");
  const event = EVENT_OF[change.type];
  return { event, instance_id, chat: change.chat, tags, data: describe(change) };
}
