import { type Kysely, sql } from "kysely";

/**
 * Monthly message counts for plans with a limit, each instance's lock on new chats, daily partitions of the
 * request log, and stored responses for an account's repeated Idempotency-Keys.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table message_usage (
      account_id bigint not null references account on delete cascade,
      month date not null,
      used bigint not null default 0,
      primary key (account_id, month)
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    alter table instance
      add column new_chats_locked_until timestamptz,
      add column new_chat_locks integer not null default 0`.execute(db);
  await sql`
    create index message_inbound on message (instance_id, id desc) where direction = 'inbound'`.execute(db);
  await sql`
    create table account_idempotency (
      account_id bigint not null references account on delete cascade,
      route text not null,
      key text not null,
      fingerprint bytea not null,
      answer bytea,
      created_at timestamptz not null default now(),
      primary key (account_id, route, key)
    )`.execute(db);
  await sql`create index account_idempotency_age on account_idempotency (created_at)`.execute(db);
  await addApiLog(db);
}

async function addApiLog(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence api_log_id_seq`.execute(db);
  await sql`
    create table api_log (
      id bigint not null default nextval('api_log_id_seq'),
      account_id bigint,
      instance_id bigint,
      caller text not null check (caller in ('user', 'key', 'admin')),
      user_id bigint,
      key_last4 text,
      method text not null,
      route text not null,
      status smallint not null,
      code text,
      duration_ms real not null,
      ip text,
      request_id text not null,
      created_at timestamptz not null
    ) partition by range (created_at)`.execute(db);
  await sql`create index api_log_instance on api_log (instance_id, id desc)`.execute(db);
  await sql`create index api_log_account on api_log (account_id, id desc)`.execute(db);
}
