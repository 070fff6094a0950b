import { type Selectable, sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { isWithin, type Reach } from "../../platform/reach.ts";
import type { InstanceTable } from "../../tables.ts";

export type InstanceRow = Selectable<InstanceTable>;

/** Undefined also if the instance is being removed, or is out of the given reach. */
export function findInstance(db: Db | Trx, id: number, reach?: Reach): Promise<InstanceRow | undefined> {
  return selectInstance(db, id, reach).executeTakeFirst();
}

/** As `findInstance`; throws NOT_FOUND. */
export async function getInstance(db: Db | Trx, id: number, reach?: Reach): Promise<InstanceRow> {
  return selectInstance(db, id, reach).executeTakeFirstOrThrow(noInstance);
}

/** As `findInstance`, locked against other changes until the commit; new rows may still reference it. */
export function findAndLockInstance(trx: Trx, id: number): Promise<InstanceRow | undefined> {
  return selectInstance(trx, id).forNoKeyUpdate().executeTakeFirst();
}

/** As `findAndLockInstance`; throws NOT_FOUND. */
export async function lockInstance(trx: Trx, id: number, reach?: Reach): Promise<InstanceRow> {
  return selectInstance(trx, id, reach).forNoKeyUpdate().executeTakeFirstOrThrow(noInstance);
}

/** For reads that need more than the row, or cache it. */
export function noInstance(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such instance.");
}

function selectInstance(db: Db | Trx, id: number, reach?: Reach) {
  const found = db.selectFrom("instance").selectAll().where("id", "=", id).where("removed_at", "is", null);
  return reach === undefined
    ? found
    : found.where("account_id", "=", reach.account_id).where(isWithin(reach, sql.ref("id")));
}
