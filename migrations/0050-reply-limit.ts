import { type Kysely, sql } from "kysely";

/** Recent replies of an integration per chat, and until when it is paused there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table integration_chat
      add column replies integer not null default 0,
      add column replies_since timestamptz,
      add column pauses smallint not null default 0,
      add column replies_paused_until timestamptz`.execute(db);
  await sql`
    create index integration_chat_paused on integration_chat (integration_id, replies_paused_until)
    where replies_paused_until is not null`.execute(db);
}
