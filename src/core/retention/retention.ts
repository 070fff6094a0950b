import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { RetentionKind } from "../plans/plans.ts";

/** The most rows in a batch. */
export const ROWS_AT_ONCE = 500;
/** The most batches in a run; the next run continues. */
const MAX_BATCHES = 400;
const DAY_MS = 86_400_000;

/** Rows of one account whose retention has ended. */
export interface RetentionCutoff {
  account_id: number;
  before: Date;
}

/** Data with a retention. The kind names the account's setting and the plan's upper limit. */
export interface RetentionRule {
  kind: RetentionKind;
  /** Deletes some of the oldest rows and returns their number; 0: none is left to delete. */
  deleteOldest(trx: Trx, cutoff: RetentionCutoff): Promise<number>;
}

/**
 * Deletes expired rows of each account. The account's `<kind>_retention_days` counts, or else a `defaultMs`
 * above 0. The plan's `max_<kind>_retention_days` is the upper limit. Each batch is one commit and deletes
 * the oldest rows first, so the next run can continue an interrupted one.
 */
export async function applyRetention(
  db: Db,
  { kind, deleteOldest }: RetentionRule,
  defaultMs = 0,
): Promise<void> {
  let batches = 0;
  for (const cutoff of await findCutoffs(db, kind, defaultMs)) {
    for (let deleted = 1; deleted > 0; batches += 1) {
      if (batches >= MAX_BATCHES) return;
      deleted = await db.transaction().execute((trx) => deleteOldest(trx, cutoff));
    }
  }
}

/** Accounts whose retention of this kind is limited. */
async function findCutoffs(db: Db, kind: RetentionKind, defaultMs: number): Promise<RetentionCutoff[]> {
  const { rows } = await sql<RetentionCutoff>`
    select retention.account_id, now() - retention.days * interval '1 day' as before
    from (
      select a.id as account_id,
        least(coalesce((a.settings ->> ${`${kind}_retention_days`})::float8, ${defaultMs || null}::float8 / ${DAY_MS}),
          (p.features ->> ${`max_${kind}_retention_days`})::float8) as days
      from account a join plan p on p.id = a.plan_id
    ) retention
    where retention.days is not null
    order by retention.account_id`.execute(db);
  return rows;
}
