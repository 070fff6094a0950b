import { sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";

/** Limits the writes to an instance, however often it is checked. */
const AT_MOST_EVERY_MS = 300_000;
const ROWS_AT_ONCE = 1_000;

/** Stores which sessions are alive: connected, and on a live node. */
export async function markSeenInstances(db: Db): Promise<void> {
  for (let marked = ROWS_AT_ONCE; marked >= ROWS_AT_ONCE; ) {
    const { numAffectedRows = 0n } = await sql`
      update instance set last_seen_at = now() where id in (
        select i.id from instance i join lane l on l.id = i.lane join node n on n.id = l.owner
        where i.status = 'connected' and i.removed_at is null and not n.dead
          and (i.last_seen_at is null or i.last_seen_at < now() - ${AT_MOST_EVERY_MS} * interval '1 millisecond')
        order by i.id limit ${ROWS_AT_ONCE} for no key update of i skip locked
      )`.execute(db);
    marked = Number(numAffectedRows);
  }
}
