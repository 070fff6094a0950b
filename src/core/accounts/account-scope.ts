import { type RawBuilder, sql } from "kysely";
import { isWithin, type Reach } from "../../platform/reach.ts";

/** What a caller may see: a reseller and its customers, one account or some of its instances, or all accounts. */
export type AccountScope = number | Reach | undefined;

/** A condition on the columns of the account and, in rows that have one, of the instance. */
export function isInScope(
  scope: AccountScope,
  account: RawBuilder<unknown>,
  instance?: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (scope === undefined) return sql<boolean>`true`;
  if (typeof scope === "object")
    return sql<boolean>`${account} = ${scope.account_id} and ${instance ? isWithin(scope, instance) : sql`true`}`;
  return sql<boolean>`${account} in (select id from account where id = ${scope} or parent_id = ${scope})`;
}
