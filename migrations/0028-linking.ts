import { type Kysely, sql } from "kysely";

/**
 * Where the passkey ceremony of an instance stands, what the network wants a person to see to, and the one-time links
 * with which somebody without an account links a phone.
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
