import { type RawBuilder, sql } from "kysely";
import { invalidField } from "../../gateway-error.ts";

export interface Page<Row> {
  rows: Row[];
  pagination: { limit: number; next_cursor: string | null; has_more: boolean };
}

/** The id after which a page begins; undefined (the first page) for an absent or empty cursor. */
export function readCursor(cursor: string | undefined): number | undefined {
  if (!cursor) return undefined;
  const id = Number(Buffer.from(cursor, "base64url").toString("utf8"));
  if (!Number.isSafeInteger(id) || id < 0)
    throw invalidField(
      "cursor",
      "is not a cursor of this list: use next_cursor of the page before",
      "wrong_cursor",
    );
  return id;
}

/** Start of a page in a list ordered by time and then by id. */
export interface TimeCursor {
  /** Microseconds since 1970, the precision of the database. */
  at: number;
  id: number;
}

/** Like `readCursor`, for a list by time; `toTimeCursor` writes these cursors. */
export function readTimeCursor(cursor: string | undefined): TimeCursor | undefined {
  if (!cursor) return undefined;
  const [at, id, more] = Buffer.from(cursor, "base64url").toString("utf8").split(".").map(Number);
  if (Number.isSafeInteger(at) && Number.isSafeInteger(id) && more === undefined) {
    return { at: at as number, id: id as number };
  }
  throw invalidField(
    "cursor",
    "is not a cursor of this list: use next_cursor of the page before",
    "wrong_cursor",
  );
}

/** The cursor of a row in a list by time, for `toPage`. */
export function toTimeCursor({ at, id }: TimeCursor): string {
  return `${at}.${id}`;
}

/** SQL for a time cursor, to compare with a (time, id) pair. */
export function timeCursorRow({ at, id }: TimeCursor): RawBuilder<unknown> {
  return sql`(timestamptz 'epoch' + ${at} * interval '1 microsecond', ${id}::bigint)`;
}

/** SQL for the microseconds since 1970 of a column, as used in time cursors. */
export function microsecondsOf(column: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(extract(epoch from ${column}) * 1000000)::bigint`;
}

/** The SQL order of a list and its cursors. A cursor names a position, so it reveals no other account's row. */
export interface ListOrder {
  by: RawBuilder<unknown>;
  /** The condition for the rows after a cursor. */
  after(cursor: string | undefined): RawBuilder<boolean>;
  /** The position of a row, for the next cursor. */
  cursorOf(row: { id: number; at: number }): number | string;
}

/** Highest id first. */
export function newestById(id: RawBuilder<unknown>): ListOrder {
  return {
    by: sql`${id} desc`,
    after(cursor) {
      const before = readCursor(cursor);
      return before === undefined ? sql<boolean>`true` : sql<boolean>`${id} < ${before}::bigint`;
    },
    cursorOf: (row) => row.id,
  };
}

/** Latest time first; rows have `at`, that time in microseconds. */
export function newestByTime(time: RawBuilder<unknown>, id: RawBuilder<unknown>): ListOrder {
  return {
    by: sql`${time} desc, ${id} desc`,
    after(cursor) {
      const before = readTimeCursor(cursor);
      return before ? sql<boolean>`(${time}, ${id}) < ${timeCursorRow(before)}` : sql<boolean>`true`;
    },
    cursorOf: toTimeCursor,
  };
}

/** Cuts `limit + 1` rows, in the list's order, into one page and its cursor. */
export function toPage<Row>(rows: Row[], limit: number, idOf: (row: Row) => number | string): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const has_more = rows.length > limit;
  const next_cursor = has_more && last ? toCursor(idOf(last)) : null;
  return { rows: shown, pagination: { limit, next_cursor, has_more } };
}

/** One row of a list can have hundreds of kilobytes. */
const ROWS_AT_ONCE = 26;
const PAGE_CHARACTERS = 1_000_000;

/**
 * Reads a page of a list whose rows may be large, a few at once. `read` returns the rows behind a cursor, as many as
 * asked for. Large rows end the page early, after at least one of them.
 */
export async function readPage<Row>(
  { limit, cursor }: { limit: number; cursor?: string },
  read: (page: { limit: number; cursor: string | undefined }) => Promise<Row[]>,
  idOf: (row: Row) => number | string,
): Promise<Page<Row>> {
  const rows: Row[] = [];
  let characters = 0;
  for (let after = cursor; ; ) {
    const asked = Math.min(ROWS_AT_ONCE, limit + 1 - rows.length);
    const found = await read({ limit: asked, cursor: after });
    for (const row of found) {
      characters += countCharacters(row);
      rows.push(row);
      if (characters <= PAGE_CHARACTERS || rows.length === 1) continue;
      const page = toPage(rows, rows.length - 1, idOf);
      return { ...page, pagination: { ...page.pagination, limit } };
    }
    const last = rows.at(-1);
    if (found.length < asked || rows.length > limit || !last) return toPage(rows, limit, idOf);
    after = toCursor(idOf(last));
  }
}

function toCursor(position: number | string): string {
  return Buffer.from(String(position)).toString("base64url");
}

/** About as many as the JSON of the value has. */
function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || value instanceof Date) return 8;
  if (value instanceof Uint8Array) return value.length;
  return Object.entries(value).reduce((sum, [name, part]) => sum + name.length + countCharacters(part), 0);
}
