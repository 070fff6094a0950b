import { type RawBuilder, sql } from "kysely";

/** The SQL condition for a name, or for all names of a group such as `message.*` or `*`. */
export function isListedEvent(column: RawBuilder<unknown>, listed: string): RawBuilder<boolean> {
  return listed.endsWith("*")
    ? sql`starts_with(${column}, ${listed.slice(0, -1)})`
    : sql`${column} = ${listed}`;
}
