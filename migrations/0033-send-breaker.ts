import { type Kysely, sql } from "kysely";

/** Pauses an instance whose sends do not reach the network, with growing delays. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table instance
      add column sends_held_until timestamptz,
      add column send_holds smallint not null default 0`.execute(db);
}
