import { type RawBuilder, sql } from "kysely";
import { searchedNumbers } from "../../phone/number-variants.ts";

/**
 * SQL for the `q` of a list: whether one of the columns, such as sql`name, email`, contains the text, in any case and with or
 * without accents, or the number that it is in another notation. Without a text every row does.
 */
export function containsText(text: string | undefined, columns: RawBuilder<unknown>): RawBuilder<boolean> {
  if (!text) return sql<boolean>`true`;
  const all = sql`concat_ws(E'\\n', ${columns})`;
  const numbers = searchedNumbers(text).map((number) => `%${number}%`);
  return sql<boolean>`(position(search_form(${text}) in search_form(${all})) > 0
    or ${all} like any(${numbers}::text[]))`;
}
