import { type Kysely, sql } from "kysely";

/** Why the last attempt of a webhook failed; its status alone does not say so when no response came. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook add column last_error_class text`.execute(db);
}
