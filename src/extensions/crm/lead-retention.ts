import { sql } from "kysely";
import { type RetentionCutoff, type RetentionRule, ROWS_AT_ONCE } from "../../core/retention/retention.ts";
import type { Trx } from "../../platform/db/database.ts";

/** Leads without changes or messages since the cutoff. Opt-outs and consents of the person stay. */
export const LEAD_RETENTION: RetentionRule = { kind: "lead", deleteOldest: deleteLeads };

async function deleteLeads(trx: Trx, { account_id, before }: RetentionCutoff): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from lead where id in (
      select l.id from lead l
      where l.account_id = ${account_id} and l.updated_at < ${before}
        and not exists (
          select from conversation c
          where c.account_id = l.account_id and c.phone = any(number_variants(l.phone)) and c.last_message_at >= ${before})
        and not exists (
          select from instance i join conversation c on c.instance_id = i.id and c.jid = l.lid
          where i.account_id = l.account_id and c.last_message_at >= ${before})
      order by l.updated_at limit ${ROWS_AT_ONCE} for update skip locked
    )`.execute(trx);
  return Number(numAffectedRows);
}
