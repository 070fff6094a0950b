import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { type AccountScope, isInScope } from "../accounts/accounts.ts";

export interface QueueDepth {
  name: string;
  waiting: number;
  due: number;
  oldest_due_seconds: number | null;
}

const MOST_SCANNED = 200_000;

/**
 * Waiting jobs by lane kind; a reseller sees only those of its own instances. Jobs of a failing webhook are
 * not due: it is paused, so no node is late with them.
 */
export async function readQueues(db: Db, scope: AccountScope): Promise<QueueDepth[]> {
  const ofScope = sql`where lane in (
    select lane from instance where ${isInScope(scope, sql`account_id`)}
    union select global_lane from instance where ${isInScope(scope, sql`account_id`)}
    union select lane from webhook where ${isInScope(scope, sql`account_id`)})`;
  const { rows } = await sql<QueueDepth>`
    with waiting as (
      select lane, run_at from job ${scope === undefined ? sql`` : ofScope} limit ${MOST_SCANNED}
    ), paused as (
      select lane from webhook where failing_since is not null and lane is not null
      union select global_lane from instance
        where exists (select from webhook where instance_id is null and failing_since is not null)
    )
    select lane.kind as name, count(*) as waiting, count(*) filter (where is_due) as due,
      floor(extract(epoch from now() - min(run_at) filter (where is_due)))::bigint as oldest_due_seconds
    from waiting join lane on lane.id = waiting.lane
      left join paused on paused.lane = waiting.lane
      cross join lateral (select run_at <= now() and paused.lane is null as is_due) as state
    where lane.kind <> 'maintenance' group by lane.kind order by lane.kind`.execute(db);
  return rows;
}
