import { type Compilable, type RawBuilder, sql } from "kysely";
import type { Trx } from "./database.ts";

/**
 * A query without values as part of frequent statements, compiled at its first use: the query builder takes longer
 * than everything else that a statement needs in this process.
 */
export function compileOnce<Row>(build: (trx: Trx) => Compilable<Row>): (trx: Trx) => RawBuilder<Row> {
  let text: RawBuilder<Row> | undefined;
  return (trx) => {
    text ??= toText(build(trx));
    return text;
  };
}

function toText<Row>(query: Compilable<Row>): RawBuilder<Row> {
  const { sql: text, parameters } = query.compile();
  if (parameters.length > 0) throw new Error(`compileOnce takes a query without values, not: ${text}`);
  return sql.raw<Row>(text);
}
