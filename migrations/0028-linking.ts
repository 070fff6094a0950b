import { type Kysely, sql } from "kysely";

/**
 * The state of an instance's passkey ceremony, requests of the network to a person, and one-time links for
 * pairing without an account.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table instance add column passkey jsonb, add column attention jsonb`.execute(db);
  await sql`
    create table instance_link (
      digest bytea primary key,
      account_id bigint not null,
      instance_id bigint not null unique references instance on delete cascade,
      browser bytea,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    )`.execute(db);
}
