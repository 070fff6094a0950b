import { sql } from "kysely";
import type { Db } from "../../platform/db.ts";
import { isSeen, type Scope } from "./scope.ts";

export interface Queue {
  name: string;
  waiting: number;
  due: number;
  oldest_due_seconds: number | null;
}

const MOST_LOOKED_AT = 200_000;

/** What waits, by the kind of its lane; of a reseller only what belongs to its own instances. */
export async function readQueues(db: Db, scope: Scope): Promise<Queue[]> {
  const theirs = sql`where lane in (
    select lane from instance where ${isSeen(scope, sql`account_id`)}
    union select global_lane from instance where ${isSeen(scope, sql`account_id`)}
    union select lane from webhook where ${isSeen(scope, sql`account_id`)})`;
  const { rows } = await sql<Queue>`
    with waiting as (
      select lane, run_at from job ${scope === undefined ? sql`` : theirs} limit ${MOST_LOOKED_AT}
    )
    select lane.kind as name, count(*) as waiting, count(*) filter (where run_at <= now()) as due,
      floor(extract(epoch from now() - min(run_at) filter (where run_at <= now())))::bigint as oldest_due_seconds
    from waiting join lane on lane.id = waiting.lane
    where lane.kind <> 'upkeep' group by lane.kind order by lane.kind`.execute(db);
  return rows;
}
