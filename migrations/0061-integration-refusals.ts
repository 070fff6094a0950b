import { type Kysely, sql } from "kysely";

/** Since when an integration's other side refuses every call, and a status for calls that work only in part. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table integration
      add column refused_since timestamptz,
      drop constraint integration_status_check,
      add constraint integration_status_check
        check (status in ('unknown', 'ok', 'warning', 'failing', 'auth_error', 'inactive'))`.execute(db);
}
