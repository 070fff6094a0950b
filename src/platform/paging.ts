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

/** Cuts `limit + 1` rows, read in the list's order, into one page and its cursor. */
export function toPage<Row>(rows: Row[], limit: number, idOf: (row: Row) => number): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const has_more = rows.length > limit;
  const next_cursor = has_more && last ? Buffer.from(String(idOf(last))).toString("base64url") : null;
  return { rows: shown, pagination: { limit, next_cursor, has_more } };
}
