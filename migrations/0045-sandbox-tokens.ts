import { type Kysely, sql } from "kysely";

/**
 * The sandbox network stores only the SHA-256 of a device's token, in hexadecimal. A pairing carries it to
 * the new device.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`update sandbox.device set token = encode(sha256(convert_to(token, 'UTF8')), 'hex')`.execute(db);
  await sql`alter table sandbox.pairing add column token text`.execute(db);
}
