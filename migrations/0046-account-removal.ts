import { type Kysely, sql } from "kysely";

/** A removed account stays hidden until nothing of it is left. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table account add column removed_at timestamptz`.execute(db);
  await sql`create index account_removed on account (removed_at) where removed_at is not null`.execute(db);
}
