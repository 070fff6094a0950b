import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { RetentionKind } from "../plans/plans.ts";

/** Rows that a batch deletes at most. */
export const ROWS_AT_ONCE = 500;
/** Batches of one run; the next run continues. */
const MAX_BATCHES = 400;
const DAY_MS = 86_400_000;

/** Data of one account that are older than its retention allows. */
export interface Expiry {
  account_id: number;
  before: Date;
}

/** Data that are deleted by age. The kind names the account's setting and the ceiling of its plan. */
export interface Expiring {
  kind: RetentionKind;
  /** Deletes some of the oldest and returns how many; 0: nothing is left to delete. */
  deleteOldest(trx: Trx, expiry: Expiry): Promise<number>;
}

/**
 * Deletes the rows of each account that are too old: after `<kind>_retention_days` of the account, else after `defaultMs`
 * (0: never), and at the latest after `max_<kind>_retention_days` of its plan. Each batch is a commit of its own, the oldest
 * rows first, so the next run continues one that was interrupted.
 */
export async function expireRows(db: Db, { kind, deleteOldest }: Expiring, defaultMs = 0): Promise<void> {
  let batches = 0;
  for (const expiry of await findExpiries(db, kind, defaultMs)) {
    for (let deleted = 1; deleted > 0; batches += 1) {
      if (batches >= MAX_BATCHES) return;
      deleted = await db.transaction().execute((trx) => deleteOldest(trx, expiry));
    }
  }
}

/** Accounts with a limited retention for this kind of data. */
async function findExpiries(db: Db, kind: RetentionKind, defaultMs: number): Promise<Expiry[]> {
  const { rows } = await sql<Expiry>`
    select kept.account_id, now() - kept.days * interval '1 day' as before
    from (
      select a.id as account_id,
        least(coalesce((a.settings ->> ${`${kind}_retention_days`})::float8, ${defaultMs || null}::float8 / ${DAY_MS}),
          (p.features ->> ${`max_${kind}_retention_days`})::float8) as days
      from account a join plan p on p.id = a.plan_id
    ) kept
    where kept.days is not null
    order by kept.account_id`.execute(db);
  return rows;
}
