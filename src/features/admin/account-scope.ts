import { type RawBuilder, sql } from "kysely";

/** The accounts that a caller may see: a reseller and its customers, one account alone, or all. */
export type AccountScope = number | { only: number } | undefined;

/** A condition on the column that holds an account. */
export function isInScope(scope: AccountScope, account: RawBuilder<unknown>): RawBuilder<boolean> {
  if (scope === undefined) return sql<boolean>`true`;
  if (typeof scope === "object") return sql<boolean>`${account} = ${scope.only}`;
  return sql<boolean>`${account} in (select id from account where id = ${scope} or parent_id = ${scope})`;
}
