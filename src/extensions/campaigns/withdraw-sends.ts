import { sql } from "kysely";
import { numberVariantsOf } from "../../core/contacts/contacts.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";

/**
 * Withdraws queued sends that have not been submitted. Deletes message and job, lets the recipient wait
 * again, and returns the message to the monthly quota. The caller has locked the campaign. Returns the
 * session lanes to wake, as changed, after the commit.
 */
export async function withdrawQueuedSends(trx: Trx, campaignId: number): Promise<number[]> {
  return withdraw(trx, sql`r.campaign_id = ${campaignId} and r.status = 'queued'`);
}

/** Withdraws one message at its submission, because its campaign no longer runs. */
export async function withdrawSend(db: Db, engine: Engine, messageId: number): Promise<void> {
  const lanes = await db.transaction().execute((trx) => withdraw(trx, sql`r.message = ${messageId}`));
  engine.wake(lanes, { changed: true });
}

/** Withdraws what is queued for people who have just opted out; the campaign's next step skips them. */
export async function withdrawSendsTo(
  trx: Trx,
  persons: readonly { account_id: number; phone: string }[],
): Promise<void> {
  const known = persons.flatMap(({ account_id, phone }) =>
    numberVariantsOf(phone).map((one) => ({ account_id, phone: one })),
  );
  await withdraw(
    trx,
    sql`r.status = 'queued' and r.id in (
      select q.id from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as x (account_id bigint, phone text)
      join campaign c on c.account_id = x.account_id and c.status = 'running'
      join campaign_recipient q on q.campaign_id = c.id and q.phone = x.phone)`,
  );
}

async function withdraw(trx: Trx, which: ReturnType<typeof sql>): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    with queued as materialized (
      select r.id, m.id as message, m.instance_id, m.account_id, i.lane,
        date_trunc('month', m.created_at at time zone 'utc')::date as month
      from campaign_recipient r join message m on m.id = r.message join instance i on i.id = m.instance_id
      where ${which} and m.outcome_at is null and m.submitted_at is null
      order by m.id for update of m
    ), unsent as (
      delete from message m using queued q where m.id = q.message
    ), unindexed as (
      delete from message_search s using queued q where s.instance_id = q.instance_id and s.id = q.message
    ), unqueued as (
      delete from job j using queued q where j.lane = q.lane and j.pos = q.message and j.ref ->> 'do' = 'send'
    ), refunded as (
      update message_usage u set used = greatest(0, u.used - q.withdrawn)
      from (select account_id, month, count(*) as withdrawn from queued group by account_id, month) q
      where u.account_id = q.account_id and u.month = q.month
    ), freed as (
      update campaign_recipient r set status = 'pending', message = null, person = null, planned_at = null
      from queued q where r.id = q.id
    )
    select distinct lane from queued`.execute(trx);
  return rows.map((row) => row.lane);
}

/**
 * Ends what was queued through a deleted instance: its messages are deleted too, so no outcome will follow.
 */
export async function failOrphanedRecipients(trx: Trx, campaignId: number): Promise<void> {
  await sql`
    update campaign_recipient r set status = 'failed', reason = 'UNKNOWN_OUTCOME', decided_at = now()
    where r.campaign_id = ${campaignId} and r.status = 'queued'
      and not exists (select from message m where m.id = r.message)`.execute(trx);
}
