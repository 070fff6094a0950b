import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { ROWS_AT_ONCE } from "./retention.ts";

const DAY_MS = 86_400_000;

/**
 * Releases old files, which the media feature then deletes if nothing else refers to them. The instance's
 * setting counts, or else its plan's, or else `defaultMs`. The messages stay, with files that have expired.
 */
export async function applyFileRetention(db: Db, defaultMs: number): Promise<void> {
  const days = sql`coalesce((i.settings ->> 'media_retention_days')::float8,
    (p.features ->> 'media_retention_days')::float8, ${defaultMs / DAY_MS})`;
  for (let released = ROWS_AT_ONCE; released >= ROWS_AT_ONCE; ) {
    const { numAffectedRows } = await sql`
      update media set status = 'expired', reason = 'retention', blob = null
      where id in (
        select old.id from instance i join account a on a.id = i.account_id join plan p on p.id = a.plan_id
        cross join lateral (
          select id from media where instance_id = i.id and status = 'ready'
            and ready_at < now() - ${days} * interval '1 day'
          order by ready_at limit ${ROWS_AT_ONCE}
        ) old
        limit ${ROWS_AT_ONCE}
      )`.execute(db);
    released = Number(numAffectedRows ?? 0);
  }
}
