import { sql } from "kysely";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type ErasureSteps,
  ROWS_AT_ONCE,
} from "../../core/personal-data/personal-data.ts";
import type { Trx } from "../../platform/db/database.ts";
import { isRecipient } from "./campaign-tables.ts";
import { cancelCampaigns } from "./change-campaign-handlers.ts";

const CAMPAIGNS_AT_ONCE = 10;

/** Ends the sends to the erased people, and deletes the files that wait for them. */
export const CAMPAIGN_ERASURE: ErasureSteps = {
  cancel: [
    { name: "cancelled_campaigns", parts: ["messages", "leads"], only: "everybody", runBatch: stopCampaigns },
    { name: "skipped_recipients", parts: ["leads"], only: "person", runBatch: skipRecipients },
  ],
  async endSends(trx, messageIds) {
    await sql`
      update campaign_recipient set status = 'failed', reason = 'UNKNOWN_OUTCOME', decided_at = now()
      where message = any(${messageIds}::bigint[])`.execute(trx);
  },
  erase: [{ name: "outgoing_media", parts: ["messages"], only: "everybody", runBatch: deleteFiles }],
};

async function stopCampaigns(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { count, lanes } = await cancelCampaigns(trx, run.account_id, CAMPAIGNS_AT_ONCE);
  return { rows: count, lanes, after: count < CAMPAIGNS_AT_ONCE ? null : count };
}

/** Campaigns go on without the person. */
async function skipRecipients(trx: Trx, { account_id, person }: Anonymisation): Promise<AnonymisationBatch> {
  if (!person) return { rows: 0, after: null };
  const { numAffectedRows = 0n } = await sql`
    with waiting as (
      select id from campaign_recipient
      where account_id = ${account_id} and status = 'pending' and ${isRecipient(person)}
      order by id limit ${ROWS_AT_ONCE} for update
    )
    update campaign_recipient set status = 'skipped', reason = 'erased', decided_at = now()
    where id in (select id from waiting)`.execute(trx);
  const rows = Number(numAffectedRows);
  return { rows, after: rows < ROWS_AT_ONCE ? null : rows };
}

async function deleteFiles(trx: Trx, { account_id }: Anonymisation): Promise<AnonymisationBatch> {
  const { numAffectedRows = 0n } = await sql`
    delete from outgoing_media where id in (
      select media ->> 'shared' from campaign where account_id = ${account_id} and media is not null)`.execute(
    trx,
  );
  return { rows: Number(numAffectedRows), after: null };
}
