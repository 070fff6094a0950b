import { type Kysely, sql } from "kysely";

/**
 * A webhook's URL may contain a secret. The next start encrypts plain URLs, because a migration has no key.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook add column address bytea`.execute(db);
}
