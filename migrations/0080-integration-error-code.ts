import { type Kysely, sql } from "kysely";

/** What went wrong, so that the panel can say it in the reader's language; null: only `last_error` says it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table integration add column last_error_code text`.execute(db);
}
