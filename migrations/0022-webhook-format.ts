import { type Kysely, sql } from "kysely";

/** The shape in which a webhook gets its events, and the sealed token that shapes of other gateways echo. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table webhook add column format text not null default 'native',
      add column format_token bytea`.execute(db);
}
