import type { Selectable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { InstanceTable } from "../../tables.ts";

export type InstanceRow = Selectable<InstanceTable>;

/** Undefined also if the instance is being removed, or belongs to another account than the given one. */
export function findInstance(db: Db | Trx, id: number, accountId?: number): Promise<InstanceRow | undefined> {
  return selectInstance(db, id, accountId).executeTakeFirst();
}

/** As `findInstance`; throws NOT_FOUND. */
export async function getInstance(db: Db | Trx, id: number, accountId?: number): Promise<InstanceRow> {
  return selectInstance(db, id, accountId).executeTakeFirstOrThrow(noInstance);
}

/** As `findInstance`, locked against other changes until the commit; new rows may still reference it. */
export function findAndLockInstance(trx: Trx, id: number): Promise<InstanceRow | undefined> {
  return selectInstance(trx, id).forNoKeyUpdate().executeTakeFirst();
}

/** As `findAndLockInstance`; throws NOT_FOUND. */
export async function lockInstance(trx: Trx, id: number, accountId?: number): Promise<InstanceRow> {
  return selectInstance(trx, id, accountId).forNoKeyUpdate().executeTakeFirstOrThrow(noInstance);
}

/** For reads that need more than the row, or cache it. */
export function noInstance(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such instance.");
}

function selectInstance(db: Db | Trx, id: number, accountId?: number) {
  const own = db.selectFrom("instance").selectAll().where("id", "=", id).where("removed_at", "is", null);
  return accountId === undefined ? own : own.where("account_id", "=", accountId);
}
