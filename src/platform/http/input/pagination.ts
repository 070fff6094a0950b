import { type RawBuilder, sql } from "kysely";
import { invalidField } from "../../gateway-error.ts";

export interface Page<Row> {
  rows: Row[];
  pagination: { limit: number; next_cursor: string | null; has_more: boolean };
}

/** The id after which a page begins; undefined, for none or an empty one, is the first page. */
export function readCursor(cursor: string | undefined): number | undefined {
  if (!cursor) return undefined;
  const id = Number(Buffer.from(cursor, "base64url").toString("utf8"));
  if (!Number.isSafeInteger(id) || id < 0) throw invalidField("cursor", "is not a cursor of this list");
  return id;
}

/** Where a page begins in a list that goes by a time and then by id. */
export interface TimeCursor {
  /** Microseconds since 1970: as exactly as the database keeps times. */
  at: number;
  id: number;
}

/** As `readCursor`, of a list by time; written by `toTimeCursor`. */
export function readTimeCursor(cursor: string | undefined): TimeCursor | undefined {
  if (!cursor) return undefined;
  const [at, id, more] = Buffer.from(cursor, "base64url").toString("utf8").split(".").map(Number);
  if (Number.isSafeInteger(at) && Number.isSafeInteger(id) && more === undefined) {
    return { at: at as number, id: id as number };
  }
  throw invalidField("cursor", "is not a cursor of this list");
}

/** The place of a row in a list by time, for `toPage`. */
export function toTimeCursor({ at, id }: TimeCursor): string {
  return `${at}.${id}`;
}

/** SQL of a time cursor, to compare with a pair of time and id. */
export function timeCursorRow({ at, id }: TimeCursor): RawBuilder<unknown> {
  return sql`(timestamptz 'epoch' + ${at} * interval '1 microsecond', ${id}::bigint)`;
}

/** SQL of the microseconds since 1970 of a column, as a time cursor has them. */
export function microsecondsOf(column: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(extract(epoch from ${column}) * 1000000)::bigint`;
}

/** The order of a list in SQL, and its cursors, which name a place in the order and no row of anybody. */
export interface ListOrder {
  by: RawBuilder<unknown>;
  /** What comes after a cursor: a condition. */
  after(cursor: string | undefined): RawBuilder<unknown>;
  /** The place of a row, for the next cursor. */
  placeOf(row: { id: number; at: number }): number | string;
}

/** The highest id first. */
export function newestById(id: RawBuilder<unknown>): ListOrder {
  return {
    by: sql`${id} desc`,
    after(cursor) {
      const before = readCursor(cursor);
      return before === undefined ? sql`true` : sql`${id} < ${before}::bigint`;
    },
    placeOf: (row) => row.id,
  };
}

/** The latest time first; rows have `at`, the microseconds of that time. */
export function newestByTime(time: RawBuilder<unknown>, id: RawBuilder<unknown>): ListOrder {
  return {
    by: sql`${time} desc, ${id} desc`,
    after(cursor) {
      const before = readTimeCursor(cursor);
      return before ? sql`(${time}, ${id}) < ${timeCursorRow(before)}` : sql`true`;
    },
    placeOf: toTimeCursor,
  };
}

/** Cuts `limit + 1` rows, read in the list's order, into one page and its cursor. */
export function toPage<Row>(rows: Row[], limit: number, idOf: (row: Row) => number | string): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const has_more = rows.length > limit;
  const next_cursor = has_more && last ? Buffer.from(String(idOf(last))).toString("base64url") : null;
  return { rows: shown, pagination: { limit, next_cursor, has_more } };
}
