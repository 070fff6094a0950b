import { sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import {
  type Db,
  isDatabaseUnavailable,
  isTransientDatabaseError,
  isUniqueViolation,
} from "../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import { mergeAddresses, type PersonAddresses } from "./merge-addresses.ts";
import { moveMessages } from "./move-messages.ts";

/** New data about a chat or a person; null: no data. */
export interface ChatUpdate {
  account_id: number;
  instance_id: number;
  jid: string;
  type: "contact" | "group";
  phone: string | null;
  lid: string | null;
  name: string | null;
  push_name: string | null;
  verified_name: string | null;
  /** Whether it is a conversation too, not only an address book entry. */
  has_chat: boolean;
}

export interface ConversationRef {
  /** 0 if none was requested. */
  id: number;
  /** The address under which it is stored. */
  jid: Jid;
}

const MAX_ATTEMPTS = 5;

/**
 * Saves contacts and conversations, each person under one address. A conflict with a concurrent writer is
 * retried: unique indexes reject a second row, and a merged conversation redirects to the other.
 */
export async function saveChats(
  db: Db,
  chats: ChatUpdate[],
  onMerged: (addresses: PersonAddresses) => void,
): Promise<ConversationRef[]> {
  for (let left = MAX_ATTEMPTS; ; left--) {
    try {
      const resolved = await resolveAddresses(db, chats, onMerged);
      const saved = await save(db, resolved);
      if (left === 1 || !saved.some(({ is_merged }) => is_merged)) return saved;
    } catch (error) {
      if (left === 1 || !isCollision(error)) throw error;
    }
  }
}

function isCollision(error: unknown): boolean {
  if (isDatabaseUnavailable(error)) return false;
  return isTransientDatabaseError(error) || isUniqueViolation(error);
}

/** Replaces every LID whose phone is known by that phone; merges a LID whose phone is learnt now. */
async function resolveAddresses(
  db: Db,
  chats: ChatUpdate[],
  onMerged: (addresses: PersonAddresses) => void,
): Promise<ChatUpdate[]> {
  const withLid = chats.filter(({ lid }) => lid !== null);
  if (withLid.length === 0) return chats;
  const { rows } = await sql<{ instance_id: number; lid: string; jid: string; phone: string | null }>`
    select p.instance_id, p.lid, p.jid, p.phone
    from jsonb_to_recordset(${JSON.stringify(withLid)}::jsonb) as x (instance_id bigint, lid text)
    join contact p on p.instance_id = x.instance_id and p.lid = x.lid`.execute(db);
  const holders = new Map(rows.map((row) => [`${row.instance_id} ${row.lid}`, row]));
  const resolved: ChatUpdate[] = [];
  for (const chat of chats) {
    const holder = holders.get(`${chat.instance_id} ${chat.lid}`);
    if (!holder || holder.jid === chat.jid) resolved.push(chat);
    else if (chat.phone === null) resolved.push({ ...chat, jid: holder.jid, phone: holder.phone });
    else resolved.push(await mergeLearntAddresses(db, chat, onMerged));
  }
  return underPhones(resolved);
}

/**
 * One batch may contain a LID alone and also with its phone; two rows with one LID would fail in every
 * attempt.
 */
function underPhones(chats: ChatUpdate[]): ChatUpdate[] {
  const byPhone = new Map<string, ChatUpdate>();
  for (const chat of chats) if (chat.phone !== null) byPhone.set(`${chat.instance_id} ${chat.lid}`, chat);
  return chats.map((chat) => {
    const known = chat.jid === chat.lid && byPhone.get(`${chat.instance_id} ${chat.lid}`);
    return known ? { ...chat, jid: known.jid, phone: known.phone } : chat;
  });
}

/** Other work waits for it; maintenance moves the rest of a very long chat. */
const PIECES_AT_ONCE = 5;

/** Invalidates caches of the LID before its messages move, so that no more are added. */
async function mergeLearntAddresses(
  db: Db,
  chat: ChatUpdate,
  onMerged: (addresses: PersonAddresses) => void,
): Promise<ChatUpdate> {
  const { account_id, instance_id, jid, lid, phone } = chat;
  if (lid === null || phone === null) return chat;
  const addresses = { account_id, instance_id, jid, lid, phone };
  const merged = await mergeAddresses(db, addresses);
  onMerged(addresses);
  if (merged !== undefined) await moveMessages(db, merged, PIECES_AT_ONCE);
  return chat;
}

/** Writes rows in a fixed order, so that two batches cannot deadlock. */
async function save(db: Db, chats: ChatUpdate[]): Promise<(ConversationRef & { is_merged: boolean })[]> {
  const { rows } = await sql<{
    instance_id: number;
    jid: Jid;
    id: number | null;
    merged_into: number | null;
  }>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(unique(chats))}::jsonb) as x (
        account_id bigint, instance_id bigint, jid text, type text, phone text, lid text, name text,
        push_name text, verified_name text, has_chat boolean)
      order by instance_id, jid ${rowCountHint(chats)}
    ), persons as (
      insert into contact (account_id, instance_id, jid, lid, phone, name, push_name, verified_name)
      select account_id, instance_id, jid, lid, phone, name, push_name, verified_name
      from input where type = 'contact' order by instance_id, jid
      on conflict (instance_id, jid) do update set
        lid = coalesce(excluded.lid, contact.lid), phone = coalesce(excluded.phone, contact.phone),
        name = coalesce(excluded.name, contact.name), push_name = coalesce(excluded.push_name, contact.push_name),
        verified_name = coalesce(excluded.verified_name, contact.verified_name), updated_at = now()
      returning id, instance_id, jid
    ), chats as (
      insert into conversation (account_id, instance_id, jid, phone, title, type, contact_id)
      select x.account_id, instance_id, jid, x.phone, coalesce(x.push_name, (
        select g.subject from group_chat g
        where x.type = 'group' and g.instance_id = x.instance_id and g.jid = x.jid)), x.type, p.id
      from input x left join persons p using (instance_id, jid) where x.has_chat order by instance_id, jid
      on conflict (instance_id, jid) do update set
        phone = coalesce(excluded.phone, conversation.phone), title = coalesce(excluded.title, conversation.title),
        contact_id = coalesce(conversation.contact_id, excluded.contact_id)
      returning id, instance_id, jid, merged_into
    )
    select x.instance_id, x.jid, c.id, c.merged_into
    from input x left join chats c using (instance_id, jid)`.execute(db);
  const saved = new Map(rows.map((row) => [`${row.instance_id} ${row.jid}`, row]));
  return chats.map(({ instance_id, jid }) => {
    const row = saved.get(`${instance_id} ${jid}`);
    if (!row) throw new Error(`The chat ${jid} of instance ${instance_id} was not saved.`);
    return { id: row.merged_into ?? row.id ?? 0, jid: row.jid, is_merged: row.merged_into !== null };
  });
}

/** One statement cannot write a row twice: merges updates of one chat; the later value counts. */
function unique(chats: ChatUpdate[]): ChatUpdate[] {
  const byKey = new Map<string, ChatUpdate>();
  for (const chat of chats) {
    const key = `${chat.instance_id} ${chat.jid}`;
    const before = byKey.get(key);
    byKey.set(key, before ? join(before, chat) : chat);
  }
  return [...byKey.values()];
}

function join(before: ChatUpdate, chat: ChatUpdate): ChatUpdate {
  return {
    ...chat,
    phone: chat.phone ?? before.phone,
    lid: chat.lid ?? before.lid,
    name: chat.name ?? before.name,
    push_name: chat.push_name ?? before.push_name,
    verified_name: chat.verified_name ?? before.verified_name,
    has_chat: chat.has_chat || before.has_chat,
  };
}
