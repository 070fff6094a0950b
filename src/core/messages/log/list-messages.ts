import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";
import {
  microsecondsOf,
  type Page,
  readPage,
  readTimeCursor,
  type TimeCursor,
  timeCursorRow,
  toTimeCursor,
} from "../../../platform/http/input/pagination.ts";
import { findByWords, toWordQuery } from "./find-by-words.ts";
import { type MessageRow, selectMessages } from "./message-view.ts";

/** Selects messages of the log, and one page of them. */
export interface MessageFilter {
  instance_ids: number[];
  /** Only messages of this conversation, which belongs to one of the instances. */
  conversation_id?: number;
  direction?: "inbound" | "outbound";
  type?: string;
  status?: string;
  track_id?: string;
  from?: Date;
  until?: Date;
  /** Words that the message must contain; each matches as a prefix. */
  q?: string;
  limit: number;
  cursor?: string;
}

/** Newest first by time. Messages that arrive meanwhile come before the first page, so pages do not shift. */
export async function listMessages(db: Db, filter: MessageFilter): Promise<Page<MessageRow>> {
  const places = filter.instance_ids.length === 0 ? [] : await findCursors(db, filter);
  const { rows, pagination } = await readPage(
    filter,
    async ({ limit }) => {
      const found = places.splice(0, limit);
      const messages = await readMessages(
        db,
        found.map(({ id }) => id),
      );
      return found.map((place) => ({ ...place, message: messages.get(place.id) }));
    },
    toTimeCursor,
  );
  return { rows: rows.flatMap(({ message }) => message ?? []), pagination };
}

/** By id; removed ones are absent. */
export async function readMessages(db: Db, ids: number[]): Promise<Map<number, MessageRow>> {
  const rows = ids.length === 0 ? [] : await selectMessages(db).where("m.id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Statuses that few messages have, or that have their own index. */
const UNCOMMON = new Set(["scheduled", "failed", "cancelled", "played"]);

async function findCursors(db: Db, filter: MessageFilter): Promise<TimeCursor[]> {
  const words = toWordQuery(filter);
  if (!words) return readCursors(db, filter);
  const isNarrow =
    filter.conversation_id !== undefined ||
    filter.track_id !== undefined ||
    UNCOMMON.has(filter.status ?? "");
  if (isNarrow) return readCursors(db, filter, words);
  return findByWords(db, { ...filter, words, after: readTimeCursor(filter.cursor) });
}

/** Reads each instance in index order, so that it reads no more rows than it shows. */
async function readCursors(
  db: Db,
  filter: MessageFilter,
  words?: RawBuilder<unknown>,
): Promise<TimeCursor[]> {
  const { conversation_id, instance_ids, limit } = filter;
  const isOne = conversation_id !== undefined;
  const scope = isOne ? sql`m.conversation_id = ${conversation_id}` : sql`m.instance_id = i.id`;
  const { rows } = await sql<TimeCursor>`
    select m.id, ${microsecondsOf(sql`m.sent_at`)} as at
    from unnest(${isOne ? [0] : instance_ids}::bigint[]) as i (id)
    cross join lateral (
      select m.id, m.sent_at from message m where ${scope} ${conditions(filter)} ${words ? hasWords(words) : sql``}
      ${ORDER} limit ${limit + 1}
    ) m
    ${ORDER} limit ${limit + 1}`.execute(db);
  return rows;
}

const ORDER = sql`order by m.sent_at desc, m.id desc`;

function hasWords(words: RawBuilder<unknown>) {
  return sql`and (
    select s.words @@ ${words} from message_search s where s.instance_id = m.instance_id and s.id = m.id
      and s.at = case when m.mode is null then m.sent_at else m.created_at end)`;
}

function conditions({
  direction,
  type,
  status,
  track_id,
  from,
  until,
  cursor,
}: MessageFilter): RawBuilder<unknown> {
  const after = readTimeCursor(cursor);
  const clauses = [
    direction && sql`m.direction = ${direction}`,
    type !== undefined && sql`m.type = ${type}`,
    status !== undefined && sql`m.status = ${status}`,
    track_id !== undefined && sql`m.track_id = ${track_id}`,
    from && sql`m.sent_at >= ${from}`,
    until && sql`m.sent_at < ${until}`,
    after && sql`(m.sent_at, m.id) < ${timeCursorRow(after)}`,
  ].filter((one) => typeof one === "object");
  return sql.join(
    clauses.map((one) => sql`and ${one}`),
    sql` `,
  );
}
