import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";

const ROWS_AT_ONCE = 5_000;

/** Deletes the data of removed integrations, and data that is too old to be needed again. */
export async function deleteStaleIntegrationData(db: Db): Promise<void> {
  const isOrphan = (table: string) =>
    sql`not exists (select from integration g where g.id = ${sql.table(table)}.integration_id)`;
  const pieces = [
    pieceOf(
      "integration_link",
      sql`created_at < now() - interval '90 days' or ${isOrphan("integration_link")}`,
    ),
    pieceOf(
      "integration_inbound",
      sql`created_at < now() - interval '7 days' or ${isOrphan("integration_inbound")}`,
    ),
    pieceOf("integration_chat", sql`${isOrphan("integration_chat")}`),
  ];
  for (const piece of pieces) {
    let removed = 0n;
    do {
      removed = (await piece.execute(db)).numAffectedRows ?? 0n;
    } while (removed > 0n);
  }
}

function pieceOf(table: string, isOver: ReturnType<typeof sql>) {
  return sql`delete from ${sql.table(table)} where ctid = any(array(
    select ctid from ${sql.table(table)} where ${isOver} limit ${ROWS_AT_ONCE}))`;
}
