import { type Kysely, sql } from "kysely";

/** How many customers a reseller may have; null: no limit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table plan add column max_accounts integer`.execute(db);
}
