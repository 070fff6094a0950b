import { type RawBuilder, type Selectable, sql } from "kysely";
import { isAmongReached, isReachedPerson } from "../../core/contacts/contacts.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Reach } from "../../platform/reach.ts";
import type { LeadTable } from "../../tables.ts";

export type LeadRow = Selectable<LeadTable>;

const PERSON = { phone: sql.ref("lead.phone"), lid: sql.ref("lead.lid") };

/** Whether a lead is within reach: all of the account, or people who are contacts of its instances. */
export function isReachedLead(reach: Reach): RawBuilder<boolean> {
  return sql<boolean>`lead.account_id = ${reach.account_id} and ${isReachedPerson(reach, PERSON)}`;
}

/** As `isReachedLead`, for a statement that goes through many leads. */
export function isAmongReachedLeads(reach: Reach): RawBuilder<boolean> {
  return sql<boolean>`lead.account_id = ${reach.account_id} and ${isAmongReached(reach, PERSON)}`;
}

/** Throws NOT_FOUND. */
export function getLead(db: Db | Trx, reach: Reach, id: number): Promise<LeadRow> {
  return selectLead(db, reach, id).executeTakeFirstOrThrow(noLead);
}

/** As `getLead`, locked until the commit. */
export function lockLead(trx: Trx, reach: Reach, id: number): Promise<LeadRow> {
  return selectLead(trx, reach, id).forUpdate().executeTakeFirstOrThrow(noLead);
}

function selectLead(db: Db | Trx, reach: Reach, id: number) {
  return db.selectFrom("lead").selectAll().where("id", "=", id).where(isReachedLead(reach));
}

function noLead(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such lead.");
}
