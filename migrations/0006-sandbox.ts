import { type Kysely, sql } from "kysely";

/** The sandbox network has its own state, separate from the gateway's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create schema sandbox`.execute(db);
  await sql`create sequence sandbox.number`.execute(db);
  await sql`
    create table sandbox.device (
      id bigint generated always as identity primary key,
      phone text not null,
      token text not null unique,
      push_name text,
      created_at timestamptz not null default now(),
      linked_at timestamptz,
      unlinked_at timestamptz,
      banned_at timestamptz,
      session text,
      host integer,
      logged_in_at timestamptz
    )`.execute(db);
  await sql`
    create index device_phone on sandbox.device (phone)
    where linked_at is not null and unlinked_at is null`.execute(db);
  await sql`
    create table sandbox.pairing (
      id text primary key,
      host integer not null,
      code text,
      phone text,
      device bigint references sandbox.device,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`
    create table sandbox.message (
      phone text not null,
      id text not null,
      chat text not null,
      body text,
      at timestamptz not null default now(),
      primary key (phone, id)
    )`.execute(db);
  await sql`
    create table sandbox.mailbox (
      id bigint generated always as identity primary key,
      device bigint not null references sandbox.device,
      chat text not null,
      kind text not null,
      body jsonb not null,
      due_at timestamptz not null default now(),
      created_at timestamptz not null default now()
    ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`.execute(db);
  await sql`create index mailbox_device on sandbox.mailbox (device, due_at, id)`.execute(db);
  await sql`
    create table sandbox.media (
      id text primary key,
      bytes bytea not null,
      expires_at timestamptz not null default now() + interval '30 days'
    )`.execute(db);
  await sql`alter table sandbox.media alter column bytes set storage external`.execute(db);
  // Every arrival at the network, repeated ones too, in the manner of an access log: a checker compares it with ours.
  await sql`
    create table sandbox.ledger (
      id bigint generated always as identity primary key,
      at timestamptz not null default now(),
      device bigint not null,
      phone text not null,
      session text,
      action text not null,
      outcome text not null,
      message_id text,
      target_id text,
      chat text,
      kind text,
      content jsonb,
      open integer
    )`.execute(db);
}
