import { type RawBuilder, sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { type RetentionCutoff, type RetentionRule, ROWS_AT_ONCE } from "./retention.ts";

/** The logs of requests, connections and webhook delivery attempts. */
export const LOG_RETENTION: RetentionRule = { kind: "log", deleteOldest };

async function deleteOldest(trx: Trx, cutoff: RetentionCutoff): Promise<number> {
  const ofInstances = sql`instance_id in (select id from instance where account_id = ${cutoff.account_id})`;
  let deleted = await deleteRows(trx, "api_log", sql`account_id = ${cutoff.account_id}`, cutoff);
  for (const table of ["connection_log", "attempt"] as const)
    deleted += await deleteRows(trx, table, ofInstances, cutoff);
  return deleted;
}

/** Both conditions contain the time, so that only earlier partitions are read. */
async function deleteRows(
  trx: Trx,
  table: "api_log" | "connection_log" | "attempt",
  isOfAccount: RawBuilder<unknown>,
  { before }: RetentionCutoff,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} t
    using (
      select id, created_at from ${sql.table(table)}
      where ${isOfAccount} and created_at < ${before} order by id limit ${ROWS_AT_ONCE}
    ) old
    where t.id = old.id and t.created_at = old.created_at and t.created_at < ${before}`.execute(trx);
  return Number(numAffectedRows);
}
