import type { Selectable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Tables } from "../../tables.ts";

type AccountRow = Pick<Selectable<Tables["account"]>, "account_type" | "suspended_by_owner" | "parent_id">;

/**
 * Locks the account until the commit; `removal` also blocks new rows that reference it. Undefined if it is
 * being removed, or is not a customer of the given reseller.
 */
export function findAndLockAccount(
  trx: Trx,
  id: number,
  { reseller, removal = false }: { reseller?: number; removal?: boolean } = {},
): Promise<AccountRow | undefined> {
  let query = trx
    .selectFrom("account")
    .select(["account_type", "suspended_by_owner", "parent_id"])
    .where("id", "=", id)
    .where("removed_at", "is", null);
  if (reseller !== undefined) query = query.where("parent_id", "=", reseller);
  return (removal ? query.forUpdate() : query.forNoKeyUpdate()).executeTakeFirst();
}

/**
 * Locks the account until the commit, before its users and leads: transactions that lock several of them then never wait
 * for each other.
 */
export async function lockAccount(trx: Trx, id: number): Promise<void> {
  await trx.selectFrom("account").select("id").where("id", "=", id).forNoKeyUpdate().execute();
}

/** Throws NOT_FOUND, also while it is being removed. */
export async function requireAccount(db: Db, id: number): Promise<void> {
  const query = db.selectFrom("account").select("id").where("id", "=", id).where("removed_at", "is", null);
  await query.executeTakeFirstOrThrow(noAccount);
}

export function noAccount(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such account.");
}
