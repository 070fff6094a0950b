import { type Kysely, sql } from "kysely";

/** Plans, accounts, their users and sign-ins. A null limit is no limit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table plan (
      id bigint generated always as identity primary key,
      name text not null unique,
      price numeric(12, 2) not null default 0,
      max_instances integer,
      max_users integer,
      max_messages integer,
      max_campaigns integer,
      max_leads integer,
      api_rate_limit_per_minute integer,
      instance_rate_limit_per_minute integer,
      message_rate_limit_per_minute integer,
      features jsonb not null default '{}'
    )`.execute(db);
  await sql`
    insert into plan (name, api_rate_limit_per_minute, instance_rate_limit_per_minute, message_rate_limit_per_minute)
    values ('unlimited', null, null, null), ('standard', 600, 300, 120)`.execute(db);
  await sql`
    create table account (
      id bigint generated always as identity primary key,
      name text not null,
      account_type text not null check (account_type in ('owner', 'reseller', 'client')),
      status text not null default 'active'
        check (status in ('active', 'trial', 'paused', 'blocked', 'expired', 'cancelled')),
      plan_id bigint not null references plan,
      settings jsonb not null default '{}',
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table account_user (
      id bigint generated always as identity primary key,
      account_id bigint not null references account on delete cascade,
      name text not null,
      email text not null,
      role text not null check (role in ('super_admin', 'admin', 'agent')),
      password_hash text not null,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create unique index account_user_email on account_user (lower(email))`.execute(db);
  await sql`
    create table sign_in (
      id text primary key,
      user_id bigint not null references account_user on delete cascade,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index sign_in_user on sign_in (user_id)`.execute(db);
}
