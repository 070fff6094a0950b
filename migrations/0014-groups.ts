import { type Kysely, sql } from "kysely";

/** The last known state of groups, and the sandbox network's people, chats and groups. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createGroupTables(db);
  await createSandboxTables(db);
}

async function createGroupTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table group_chat (
      id bigint generated always as identity primary key,
      account_id bigint not null,
      instance_id bigint not null,
      jid text not null,
      subject text not null,
      description text,
      owner text,
      announce boolean not null,
      locked boolean not null,
      participants jsonb not null,
      group_created_at timestamptz,
      read_at timestamptz not null default now(),
      is_stale boolean not null default false,
      updated_at timestamptz not null default now(),
      unique (instance_id, jid)
    )`.execute(db);
  await sql`create index group_chat_list on group_chat (instance_id, id)`.execute(db);
  // `me` is the pairing whose groups these are; those of another one are not shown.
  await sql`
    create table group_list (
      instance_id bigint primary key,
      account_id bigint not null,
      me text not null,
      read_at timestamptz,
      is_stale boolean not null default false
    )`.execute(db);
}

async function createSandboxTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sandbox.profile (
      phone text primary key,
      name text,
      about text,
      picture text,
      verified_name text,
      business jsonb
    )`.execute(db);
  await sql`create table sandbox.picture (id text primary key, bytes bytea not null)`.execute(db);
  await sql`
    create table sandbox.contact (
      owner text not null,
      phone text not null,
      name text,
      known text not null default 'both',
      is_blocked boolean not null default false,
      primary key (owner, phone)
    )`.execute(db);
  await sql`
    create table sandbox.chat (
      owner text not null,
      chat text not null,
      archived boolean not null default false,
      pinned boolean not null default false,
      muted_until timestamptz,
      unread boolean not null default false,
      primary key (owner, chat)
    )`.execute(db);
  await sql`create sequence sandbox.group_number`.execute(db);
  await sql`
    create table sandbox.group_chat (
      jid text primary key,
      subject text not null,
      description text,
      owner text,
      announce boolean not null default false,
      locked boolean not null default false,
      invite text not null unique,
      picture text,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table sandbox.group_member (
      group_jid text not null references sandbox.group_chat on delete cascade,
      phone text not null,
      admin text,
      seat bigint generated always as identity,
      primary key (group_jid, phone)
    )`.execute(db);
  await sql`create index group_member_phone on sandbox.group_member (phone)`.execute(db);
}
