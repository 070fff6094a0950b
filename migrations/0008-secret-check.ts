import { type Kysely, sql } from "kysely";

/** One encrypted value that shows at the start whether this node has the right secret key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table secret_check (
      id smallint primary key default 1 check (id = 1),
      sealed bytea not null
    )`.execute(db);
}
