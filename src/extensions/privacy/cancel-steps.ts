import { type RawBuilder, sql } from "kysely";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  isAddressOf,
  ROWS_AT_ONCE,
} from "../../core/personal-data/personal-data.ts";
import { statementHooks, subscriberLanes } from "../../core/statement-hooks.ts";
import type { Trx } from "../../platform/db/database.ts";
import { isEventOf, isIdentityOf } from "./find-person.ts";

/** Marks a message whose outcome must still be reported; the mark is deleted with the content. */
const UNTOLD = '{"untold": true}';

/** Ends pending sends to the affected people and pending reports about them. */
export function cancelSteps(): AnonymisationStep[] {
  return [
    ...statementHooks().erasures.flatMap(({ cancel }) => cancel ?? []),
    { name: "cancelled_sends", parts: ["messages"], runBatch: cancelSends },
    { name: "cancelled_actions", parts: ["messages"], runBatch: dropActions },
    { name: "cancelled_deliveries", parts: ["messages"], runBatch: discardDeliveries },
  ];
}

/** Narrows a statement to the chat of the one person, if the erasure is about one. */
function andInChat({ person }: Anonymisation, chat: string): RawBuilder<unknown> {
  return person ? sql`and ${isAddressOf(sql.ref(chat), person)}` : sql``;
}

/**
 * A send that may have gone out is not marked as cancelled, since its outcome is unknown. The outcome events
 * follow once the content is anonymised.
 */
async function cancelSends(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { rows } = await sql<{ id: number; lane: number }>`
    with open as materialized (
      select m.id, coalesce(m.queue_pos, m.id) as pos, m.submitted_at, m.content ->> 'upload' as upload, i.lane
      from message m join instance i on i.id = m.instance_id
      where m.instance_id = any(${run.instances}::bigint[]) and (m.status = 'pending' or m.status = 'scheduled')
        and m.id <= ${run.until.message ?? 0} ${andInChat(run, "m.jid")}
      order by m.id limit ${ROWS_AT_ONCE} for update of m
    ), ended as (
      update message m set outcome_at = now(), content = m.content || ${UNTOLD}::jsonb,
        status = case when o.submitted_at is null then 'cancelled' else 'failed' end,
        error = case when o.submitted_at is null
          then '{"code": "CANCELLED", "reason": "anonymised", "params": {}, "message": "The data was anonymised.", "retryable": false}'::jsonb
          else '{"code": "UNKNOWN_OUTCOME", "reason": "unknown_outcome", "params": {}, "message": "It may have arrived.", "retryable": false}'::jsonb end
      from open o where m.id = o.id
    ), unqueued as (
      delete from job j using open o where j.lane = o.lane and j.pos = o.pos and j.ref ->> 'do' = 'send'
    ), dropped as (
      delete from outgoing_media where id in (select upload from open)
    )
    select id, lane from open`.execute(trx);
  const ids = rows.map(({ id }) => id);
  for (const { endSends } of statementHooks().erasures) await endSends?.(trx, ids);
  return toBatch(rows);
}

/** For a job `j`: whether it delivers what the erasure removes. */
function isDeliveryOf({ person }: Anonymisation): RawBuilder<boolean> {
  if (!person) return sql`true`;
  return sql`(${isAddressOf(sql`j.grp`, person)} or exists (
    select from event e where e.event_id = j.ref ->> 'event_id' and e.created_at = (j.ref ->> 'at')::timestamptz
      and ${isEventOf(person)}))`;
}

/** The lock on the lanes excludes attempts whose results are being written. */
async function discardDeliveries(trx: Trx, run: Anonymisation, after: unknown): Promise<AnonymisationBatch> {
  const { rows } = await sql<{ lanes: number[]; deleted: number; last: number | null }>`
    with matching as (
      select global_lane as lane from instance where id = any(${run.instances}::bigint[])
      union select lane from webhook where instance_id = any(${run.instances}::bigint[])
      union (${subscriberLanes(sql`account_id = ${run.account_id}`)})
    ), locked as materialized (
      select id from lane where id in (select lane from matching) order by id for update
    ), page as materialized (
      select * from job where lane in (select id from locked)
        and id > ${Number(after ?? 0)} and id <= ${run.until.job ?? 0}
      order by id limit ${ROWS_AT_ONCE}
    ), unqueued as (
      delete from job where id in (select j.id from page j where ${isDeliveryOf(run)})
      returning lane, ref
    ), released as (
      delete from held_job j where ${after === null} and lane in (select id from locked) and ${isDeliveryOf(run)}
      returning lane, ref
    ), deleted as (
      select lane, (ref ->> 'delivery')::bigint as delivery, (ref ->> 'at')::timestamptz as at
      from (select * from unqueued union all select * from released) g
    ), discarded as (
      update delivery d set status = 'discarded', next_retry_at = null
      from deleted g where d.id = g.delivery and d.created_at = g.at and d.status in ('pending', 'retrying', 'parked')
    )
    select array(select distinct lane from deleted) as lanes, (select count(*) from deleted) as deleted,
      (select max(id) from page) as last`.execute(trx);
  const { lanes = [], deleted = 0, last = null } = rows[0] ?? {};
  return { rows: deleted, lanes, after: last };
}

/**
 * Deletes waiting edits, reactions and rejected calls, the records of finished ones, and jobs on hold after a
 * restore.
 */
async function dropActions(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { person } = run;
  const isOnTheirs = person
    ? sql`and (${isAddressOf(sql`jid`, person)} or exists (
        select from jsonb_array_elements(target) t where ${isAddressOf(sql`t ->> 'sender'`, person)}))`
    : sql``;
  const isTheirs = person
    ? sql`and (ref ->> 'action' in (select id::text from dropped) or ${isIdentityOf(sql`ref -> 'from'`, person)}
        or exists (select from message m where m.id = (ref ->> 'message')::bigint and m.outcome_at is not null))`
    : sql``;
  const { rows } = await sql<{ lane: number }>`
    with lanes as (select lane from instance where id = any(${run.instances}::bigint[])),
    dropped as (delete from action where account_id = ${run.account_id} ${isOnTheirs} returning id),
    released as (delete from held_job where lane in (select lane from lanes) ${isTheirs}),
    unqueued as (
      delete from job where lane in (select lane from lanes) and id <= ${run.until.job ?? 0}
        and ref ->> 'do' in ('act', 'reject_call') ${isTheirs}
      returning lane
    )
    select lane from unqueued`.execute(trx);
  return { ...toBatch(rows), after: null };
}

function toBatch(rows: readonly { lane: number }[]): AnonymisationBatch {
  const lanes = [...new Set(rows.map(({ lane }) => lane))];
  return { rows: rows.length, lanes, after: rows.length < ROWS_AT_ONCE ? null : rows.length };
}
