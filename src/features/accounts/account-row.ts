import type { Selectable } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Tables } from "../../tables.ts";

type AccountRow = Pick<Selectable<Tables["account"]>, "account_type" | "held_by_owner" | "parent_id">;

/**
 * The account, locked against other changes until the commit; undefined also for one that is being removed, and, if a
 * reseller is given, for one that is not its customer. `removal`: no row that refers to it can be added either.
 */
export function findAndLockAccount(
  trx: Trx,
  id: number,
  { reseller, removal = false }: { reseller?: number; removal?: boolean } = {},
): Promise<AccountRow | undefined> {
  let query = trx
    .selectFrom("account")
    .select(["account_type", "held_by_owner", "parent_id"])
    .where("id", "=", id)
    .where("removed_at", "is", null);
  if (reseller !== undefined) query = query.where("parent_id", "=", reseller);
  return (removal ? query.forUpdate() : query.forNoKeyUpdate()).executeTakeFirst();
}

export function noAccount(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such account.");
}
