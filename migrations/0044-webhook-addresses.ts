import { type Kysely, sql } from "kysely";

/** The URL of a webhook may hold a secret. A start seals what is in plain text: a migration has no key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook add column address bytea`.execute(db);
}
