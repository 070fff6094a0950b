import { invalidField } from "./errors.ts";

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

/** Cuts `limit + 1` rows, read in the list's order, into one page and its cursor. */
export function toPage<Row>(rows: Row[], limit: number, idOf: (row: Row) => number | string): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const has_more = rows.length > limit;
  const next_cursor = has_more && last ? Buffer.from(String(idOf(last))).toString("base64url") : null;
  return { rows: shown, pagination: { limit, next_cursor, has_more } };
}
