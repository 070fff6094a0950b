import type { Selectable } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { LeadTable } from "../../tables.ts";

export type LeadRow = Selectable<LeadTable>;

/** The lead of the account. Throws NOT_FOUND. */
export function getLead(db: Db | Trx, accountId: number, id: number): Promise<LeadRow> {
  return selectLead(db, accountId, id).executeTakeFirstOrThrow(noLead);
}

/** As `getLead`, locked until the commit. */
export function lockLead(trx: Trx, accountId: number, id: number): Promise<LeadRow> {
  return selectLead(trx, accountId, id).forUpdate().executeTakeFirstOrThrow(noLead);
}

function selectLead(db: Db | Trx, accountId: number, id: number) {
  return db.selectFrom("lead").selectAll().where("id", "=", id).where("account_id", "=", accountId);
}

function noLead(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such lead.");
}
