import { type Kysely, sql } from "kysely";

/** Indexes for deleting expired data, a counter of reconnection attempts, and the memory of a node. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index lead_age on lead (account_id, updated_at)`.execute(db);
  await sql`create index campaign_age on campaign (account_id, ended_at) where ended_at is not null`.execute(
    db,
  );
  await sql`alter table instance add column reconnect_attempts integer not null default 0`.execute(db);
  await sql`alter table node add column memory bigint, add column memory_at_start bigint`.execute(db);
}
