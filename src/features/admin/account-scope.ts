import { type RawBuilder, sql } from "kysely";

/** The accounts that a caller may see: a reseller sees itself and its customers, others see all accounts. */
export type AccountScope = number | undefined;

/** A condition on the column that holds an account. */
export function isInScope(scope: AccountScope, account: RawBuilder<unknown>): RawBuilder<boolean> {
  if (scope === undefined) return sql<boolean>`true`;
  return sql<boolean>`${account} in (select id from account where id = ${scope} or parent_id = ${scope})`;
}
