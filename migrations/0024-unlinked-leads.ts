import { type Kysely, sql } from "kysely";

/** Leads that wait for the phone behind their LID are few among many. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index lead_unlinked on lead (id) where phone is null and lid is not null`.execute(db);
}
