import type { Selectable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { InstanceTable } from "../../tables.ts";

export type InstanceRow = Selectable<InstanceTable>;

/** Undefined also for an instance that is being removed. */
export function findInstance(db: Db | Trx, id: number): Promise<InstanceRow | undefined> {
  return selectInstance(db, id).executeTakeFirst();
}

/** Throws NOT_FOUND. */
export async function getInstance(db: Db | Trx, id: number): Promise<InstanceRow> {
  return found(await findInstance(db, id));
}

/** As `findInstance`, locked against other changes until the commit; rows that refer to it can still be added. */
export function findAndLockInstance(trx: Trx, id: number): Promise<InstanceRow | undefined> {
  return selectInstance(trx, id).forNoKeyUpdate().executeTakeFirst();
}

/** As `findAndLockInstance`; throws NOT_FOUND. */
export async function lockInstance(trx: Trx, id: number): Promise<InstanceRow> {
  return found(await findAndLockInstance(trx, id));
}

function selectInstance(db: Db | Trx, id: number) {
  return db.selectFrom("instance").selectAll().where("id", "=", id).where("removed_at", "is", null);
}

function found(row: InstanceRow | undefined): InstanceRow {
  if (row) return row;
  throw new GatewayError("NOT_FOUND", "There is no such instance.");
}
