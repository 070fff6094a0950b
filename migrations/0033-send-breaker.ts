import { type Kysely, sql } from "kysely";

/** An instance whose sends do not reach the wire rests, longer each time in a row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table instance
      add column sends_held_until timestamptz,
      add column send_holds smallint not null default 0`.execute(db);
}
