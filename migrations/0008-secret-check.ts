import { type Kysely, sql } from "kysely";

/** One sealed word: it tells at the start whether this node has the key of the other secrets. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table secret_check (
      id smallint primary key default 1 check (id = 1),
      sealed bytea not null
    )`.execute(db);
}
