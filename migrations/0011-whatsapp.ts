import { type Kysely, sql } from "kysely";

/**
 * The many small secrets of a pairing, which change with every message, and what was decrypted and is not yet reported.
 * Rows of another generation than the pairing's are never read. No foreign keys: each write would lock the instance's row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pairing_key (
      instance_id bigint not null,
      generation bigint not null,
      kind text not null,
      id text not null,
      secret bytea not null,
      primary key (instance_id, generation, kind, id)
    ) with (fillfactor = 70, toast_tuple_target = 8160)`.execute(db);
  await sql`
    create table pairing_letter (
      instance_id bigint not null,
      generation bigint not null,
      id text not null,
      position bigint not null generated always as identity,
      is_done boolean not null,
      secret bytea not null,
      created_at timestamptz not null default now(),
      primary key (instance_id, generation, id)
    ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`.execute(db);
  // Sealed bytes cannot be made smaller.
  await sql`alter table pairing_key alter column secret set storage external`.execute(db);
  await sql`alter table pairing_letter alter column secret set storage external`.execute(db);
}
