import { type Kysely, sql } from "kysely";

/**
 * Counts failed sign-ins across nodes, stores when a sign-in last confirmed its password, and lets one e-mail
 * address belong to users of several accounts, so that no account learns which addresses others use.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sign_in_guess (
      kind text not null check (kind in ('network', 'pair', 'account', 'device')),
      key bytea not null,
      failures integer not null,
      started_at timestamptz not null default now(),
      last_at timestamptz not null default now(),
      primary key (kind, key)
    )`.execute(db);
  await sql`create index sign_in_guess_last_at on sign_in_guess (last_at)`.execute(db);
  await sql`alter table sign_in add column confirmed_at timestamptz not null default now()`.execute(db);
  await sql`drop index account_user_email`.execute(db);
  await sql`create unique index account_user_email on account_user (lower(email), account_id)`.execute(db);
}
