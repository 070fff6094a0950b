import { type Kysely, sql } from "kysely";

/** The newest version of WhatsApp's web client that was found, one for all nodes; no row before the first search. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table client_version (
      id smallint primary key default 1 check (id = 1),
      revision bigint,
      found_at timestamptz,
      changed_at timestamptz,
      searched_at timestamptz,
      wanted_at timestamptz,
      problem text
    )`.execute(db);
}
