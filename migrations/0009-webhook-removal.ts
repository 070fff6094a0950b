import { type Kysely, sql } from "kysely";

/**
 * A removed webhook stays hidden until nothing is queued for it any more. A delivery that went well needs no index by
 * its webhook, and most go well.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook add column removed_at timestamptz`.execute(db);
  await sql`create index webhook_removed on webhook (removed_at) where removed_at is not null`.execute(db);
  await sql`drop index delivery_webhook`.execute(db);
  await sql`
    create index delivery_not_delivered on delivery (webhook_id, created_at) where status <> 'delivered'`.execute(
    db,
  );
}
