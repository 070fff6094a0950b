import { type Kysely, sql } from "kysely";

/** The headers that the gateway's own receiver got, so that the panel shows a signed webhook as a receiver gets it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table attempt add column request_headers jsonb`.execute(db);
  await sql`create index attempt_received on attempt (webhook_id, id desc) where request_headers is not null`.execute(
    db,
  );
}
