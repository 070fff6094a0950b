import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { type RetentionCutoff, type RetentionRule, ROWS_AT_ONCE } from "./retention.ts";

/** Events with their deliveries, by instance and `sequence`: a pending event retains all later ones. */
export const EVENT_RETENTION: RetentionRule = { kind: "event", deleteOldest };

async function deleteOldest(trx: Trx, { account_id, before }: RetentionCutoff): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with old as materialized (
      select o.event_id, o.created_at
      from instance i cross join lateral (
        select event_id, created_at, bool_or(
          exists (
            select from delivery d where d.event_id = e.event_id and d.status in ('pending', 'retrying', 'parked'))
          or e.event_id in (
            select j.ref ->> 'event_id' from integration g join job j on j.lane = g.lane where g.instance_id = i.id)
        ) over (order by e.sequence) as must_stay
        from (
          select event_id, created_at, sequence from event
          where instance_id = i.id and created_at < ${before} order by sequence limit ${ROWS_AT_ONCE}
        ) e
      ) o
      where i.account_id = ${account_id} and not o.must_stay
      limit ${ROWS_AT_ONCE}
    ), deliveries as (
      delete from delivery d using old where d.event_id = old.event_id and d.created_at < ${before}
    ), events as (
      delete from event e using old
      where e.event_id = old.event_id and e.created_at = old.created_at and e.created_at < ${before}
    )
    select count(*) as deleted from old`.execute(trx);
  return Number(rows[0]?.deleted ?? 0);
}
