import { type RawBuilder, sql } from "kysely";
import { lidJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import {
  microsecondsOf,
  type Page,
  readPage,
  readTimeCursor,
  timeCursorRow,
  toTimeCursor,
} from "../../platform/http/input/pagination.ts";
import { searchedNumbers } from "../contacts/contacts.ts";
import { readMessages } from "../messages/messages.ts";
import { toListedMessage } from "./to-listed-message.ts";

export interface ChatFilter {
  instance_ids: number[];
  /** Only this one. */
  conversation_id?: number;
  archived?: boolean;
  pinned?: boolean;
  unread?: boolean;
  type?: "contact" | "group";
  q?: string;
  limit: number;
  cursor?: string;
}

interface ChatRow {
  id: number;
  instance_id: number;
  jid: string;
  lid: string | null;
  phone: string | null;
  title: string | null;
  type: "contact" | "group";
  archived: boolean;
  pinned: boolean;
  muted_until: Date | null;
  marked_unread: boolean;
  last_message_at: Date | null;
  at: number;
  last_message: number | null;
  unread_count: number;
}

/** The chat with the newest message first. */
export async function listChats(db: Db, filter: ChatFilter) {
  const chats = await readChats(db, filter);
  const { rows, pagination } = await readPage(
    filter,
    async ({ limit }) => {
      const found = chats.splice(0, limit);
      const messages = await readMessages(
        db,
        found.flatMap(({ last_message }) => last_message ?? []),
      );
      return found.map((chat) => ({ ...chat, last: messages.get(chat.last_message ?? 0) }));
    },
    toTimeCursor,
  );
  return {
    rows: rows.map(({ at: _, last, ...chat }) => ({
      ...chat,
      is_group: chat.type === "group",
      muted: chat.muted_until !== null && chat.muted_until.getTime() > Date.now(),
      last_message: last ? toListedMessage(last) : null,
    })),
    pagination,
  } satisfies Page<unknown>;
}

/** Unread messages are counted up to this. */
const COUNTED = 999;

/** Counts only for displayed chats. Groups have the title that their members set. */
async function readChats(db: Db, filter: ChatFilter): Promise<ChatRow[]> {
  const { rows } = await sql<ChatRow>`
    with page as materialized (
      select c.*, p.lid, coalesce(p.phone, c.phone) as known_phone,
        coalesce(p.name, p.push_name, p.verified_name, g.subject, c.title) as known_title
      from conversation c
      left join contact p on p.id = c.contact_id
      left join group_chat g on c.type = 'group' and g.instance_id = c.instance_id and g.jid = c.jid
      where c.instance_id = any(${filter.instance_ids}::bigint[]) and c.merged_into is null ${conditions(filter)}
      order by c.last_message_at desc, c.id desc limit ${filter.limit + 1}
    )
    select c.id, c.instance_id, c.jid, c.lid, c.known_phone as phone, c.known_title as title, c.type, c.archived,
      c.pinned, c.muted_until, c.marked_unread, c.last_message_at,
      ${microsecondsOf(sql`c.last_message_at`)} as at, last.id as last_message,
      (select count(*) from (select from message m where m.conversation_id = c.id and m.direction = 'inbound'
        and m.read_at is null limit ${COUNTED}) unread) as unread_count
    from page c
    left join lateral (
      select m.id from message m where m.conversation_id = c.id order by m.sent_at desc, m.id desc limit 1
    ) last on true
    order by c.last_message_at desc, c.id desc`.execute(db);
  return rows;
}

function conditions(filter: ChatFilter): RawBuilder<unknown> {
  const { conversation_id, archived, pinned, unread, type, q, cursor } = filter;
  if (conversation_id !== undefined) return sql`and c.id = ${conversation_id}`;
  const after = readTimeCursor(cursor);
  const clauses = [
    // The other rows come from an address book or a phone's list, without messages.
    sql`c.last_message_at is not null`,
    archived !== undefined && sql`c.archived = ${archived}`,
    pinned !== undefined && sql`c.pinned = ${pinned}`,
    type !== undefined && sql`c.type = ${type}`,
    unread !== undefined && sql`${IS_UNREAD} = ${unread}`,
    q ? isCalled(q) : undefined,
    after && sql`(c.last_message_at, c.id) < ${timeCursorRow(after)}`,
  ].filter((one) => typeof one === "object");
  return sql.join(
    clauses.map((one) => sql`and ${one}`),
    sql` `,
  );
}

const IS_UNREAD = sql`(c.marked_unread or exists (
  select from message m where m.conversation_id = c.id and m.direction = 'inbound' and m.read_at is null))`;

function isCalled(q: string): RawBuilder<unknown> {
  const name = sql`coalesce(p.name, p.push_name, p.verified_name, g.subject, c.title)`;
  const lids = searchedNumbers(q).map(lidJid);
  return sql`(${containsText(q, sql`${name}, coalesce(p.phone, c.phone)`)} or p.lid = any(${lids}::text[]))`;
}
