import { sql } from "kysely";
import type { RetentionCutoff, RetentionRule } from "../../../core/retention/retention.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { ENDED_STATUSES } from "../campaign-row.ts";

/** A campaign may have 100,000 recipients, which are deleted with it. */
const CAMPAIGNS_AT_ONCE = 5;

/** Ended campaigns, with their recipients and reports. The messages that they sent stay in the log. */
export const CAMPAIGN_RETENTION: RetentionRule = { kind: "campaign", deleteOldest: deleteCampaigns };

async function deleteCampaigns(trx: Trx, { account_id, before }: RetentionCutoff): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from campaign where id in (
      select id from campaign
      where account_id = ${account_id} and status = any(${[...ENDED_STATUSES]}) and ended_at < ${before} and lane is null
      order by ended_at limit ${CAMPAIGNS_AT_ONCE} for update skip locked
    )`.execute(trx);
  return Number(numAffectedRows);
}
