import { type Kysely, sql } from "kysely";

/** Who put an account out of service: a reseller may not lift what the owner of the gateway decided. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table account add column held_by_owner boolean not null default false`.execute(db);
}
