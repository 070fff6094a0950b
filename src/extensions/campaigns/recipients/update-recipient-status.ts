import { sql } from "kysely";
import type { Trx } from "../../../platform/db/database.ts";

/** Updates the status of recipients from their messages, in the transaction that changes these. */
export async function updateRecipientStatus(trx: Trx, messageIds: readonly number[]): Promise<void> {
  await sql`
    with reported as (
      select r.id, m.status, m.error ->> 'code' as code
      from campaign_recipient r join message m on m.id = r.message
      where r.message = any(${messageIds}::bigint[]) and m.status <> 'pending'
      order by r.id for update of r
    )
    update campaign_recipient r set
      status = case t.status when 'played' then 'read' else t.status end,
      reason = t.code, decided_at = coalesce(r.decided_at, now())
    from reported t where r.id = t.id`.execute(trx);
}
