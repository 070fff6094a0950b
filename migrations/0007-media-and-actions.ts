import { type Kysely, sql } from "kysely";

/** Files of pending sends, in parts; and queued actions on messages. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table outgoing_media (
      id text not null,
      part integer not null,
      bytes bytea not null,
      created_at timestamptz not null default now(),
      primary key (id, part)
    )`.execute(db);
  await sql`alter table outgoing_media alter column bytes set storage external`.execute(db);
  await sql`create index outgoing_media_age on outgoing_media (created_at)`.execute(db);
  await sql`
    create table action (
      id bigint primary key default nextval('message_id_seq'),
      account_id bigint not null,
      instance_id bigint not null,
      jid text not null,
      message_id text not null,
      target jsonb not null,
      action text not null check (action in ('react', 'read', 'edit', 'delete')),
      body jsonb not null,
      error jsonb,
      deadline timestamptz not null,
      outcome_at timestamptz,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index action_age on action (created_at)`.execute(db);
}
