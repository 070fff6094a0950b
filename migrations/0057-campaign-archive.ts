import { type Kysely, sql } from "kysely";

/** Campaigns that have ended can be archived: lists may leave them out, their reports stay. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table campaign add column archived_at timestamptz`.execute(db);
}
