import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { cancelCampaigns } from "../campaigns/campaigns.ts";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  ROWS_AT_ONCE,
} from "./anonymisation.ts";

const CAMPAIGNS_AT_ONCE = 10;
/** Marks a message whose outcome must still be reported; the mark is deleted with the content. */
const UNTOLD = '{"untold": true}';

/** Ends pending sends to the affected people and pending reports about them. */
export const CANCEL_STEPS: readonly AnonymisationStep[] = [
  { name: "cancelled_campaigns", parts: ["messages", "leads"], runBatch: stopCampaigns },
  { name: "cancelled_sends", parts: ["messages"], runBatch: cancelSends },
  { name: "cancelled_actions", parts: ["messages"], runBatch: dropActions },
  { name: "cancelled_deliveries", parts: ["messages"], runBatch: discardDeliveries },
];

async function stopCampaigns(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { count, lanes } = await cancelCampaigns(trx, run.account_id, CAMPAIGNS_AT_ONCE);
  return { rows: count, lanes, after: count < CAMPAIGNS_AT_ONCE ? null : count };
}

/**
 * A send that may have gone out is not marked as cancelled, since its outcome is unknown. The outcome events
 * follow once the content is anonymised.
 */
async function cancelSends(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { rows } = await sql<{ lane: number }>`
    with open as materialized (
      select m.id, m.submitted_at, m.content ->> 'upload' as upload, i.lane
      from message m join instance i on i.id = m.instance_id
      where m.instance_id = any(${run.instances}::bigint[]) and m.status = 'pending'
        and m.id <= ${run.until.message ?? 0}
      order by m.id limit ${ROWS_AT_ONCE} for update of m
    ), ended as (
      update message m set outcome_at = now(), content = m.content || ${UNTOLD}::jsonb,
        status = case when o.submitted_at is null then 'cancelled' else 'failed' end,
        error = case when o.submitted_at is null
          then '{"code": "CANCELLED", "message": "The data was anonymised.", "retryable": false}'::jsonb
          else '{"code": "UNKNOWN_OUTCOME", "message": "It may have arrived.", "retryable": false}'::jsonb end
      from open o where m.id = o.id
    ), unqueued as (
      delete from job j using open o where j.lane = o.lane and j.pos = o.id and j.ref ->> 'do' = 'send'
    ), dropped as (
      delete from outgoing_media where id in (select upload from open)
    ), reported as (
      update campaign_recipient r set status = 'failed', reason = 'UNKNOWN_OUTCOME', decided_at = now()
      from open o where r.message = o.id
    )
    select lane from open`.execute(trx);
  return toBatch(rows);
}

/** The lock on the lanes excludes attempts whose results are being written. */
async function discardDeliveries(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { rows } = await sql<{ lane: number }>`
    with matching as (
      select global_lane as lane from instance where id = any(${run.instances}::bigint[])
      union select lane from webhook where instance_id = any(${run.instances}::bigint[])
      union select lane from integration where account_id = ${run.account_id}
      union select inbound_lane from integration where account_id = ${run.account_id}
    ), locked as materialized (
      select id from lane where id in (select lane from matching) order by id for update
    ), unqueued as (
      delete from job where id in (
        select id from job where lane in (select id from locked) and id <= ${run.until.job ?? 0}
        order by id limit ${ROWS_AT_ONCE})
      returning lane, ref
    ), released as (
      delete from held_job where id in (
        select id from held_job where lane in (select id from locked) order by id limit ${ROWS_AT_ONCE})
      returning lane, ref
    ), deleted as (
      select lane, (ref ->> 'delivery')::bigint as delivery, (ref ->> 'at')::timestamptz as at
      from (select * from unqueued union all select * from released) g
    ), discarded as (
      update delivery d set status = 'discarded', next_retry_at = null
      from deleted g where d.id = g.delivery and d.created_at = g.at and d.status in ('pending', 'retrying', 'parked')
    )
    select lane from deleted`.execute(trx);
  return toBatch(rows);
}

/**
 * Deletes waiting edits, reactions and rejected calls, the records of finished ones, and jobs on hold after a
 * restore.
 */
async function dropActions(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { rows } = await sql<{ lane: number }>`
    with lanes as (select lane from instance where id = any(${run.instances}::bigint[])),
    dropped as (delete from action where account_id = ${run.account_id}),
    released as (delete from held_job where lane in (select lane from lanes)),
    unqueued as (
      delete from job where lane in (select lane from lanes) and id <= ${run.until.job ?? 0}
        and ref ->> 'do' in ('act', 'reject_call')
      returning lane
    )
    select lane from unqueued`.execute(trx);
  return { ...toBatch(rows), after: null };
}

function toBatch(rows: readonly { lane: number }[]): AnonymisationBatch {
  const lanes = [...new Set(rows.map(({ lane }) => lane))];
  return { rows: rows.length, lanes, after: rows.length < ROWS_AT_ONCE ? null : rows.length };
}
