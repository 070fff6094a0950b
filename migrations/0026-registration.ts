import { type Kysely, sql } from "kysely";

/**
 * An encrypted registration that no phone has linked yet; whether the shown QR code was replaced; why the
 * last pairing failed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table credential add column registration bytea`.execute(db);
  await sql`alter table instance add column qr_reason text check (qr_reason in ('new', 'refreshed'))`.execute(
    db,
  );
  await sql`alter table instance add column pairing_error jsonb`.execute(db);
}
