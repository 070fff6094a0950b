import { type Kysely, sql } from "kysely";

/**
 * The status of a sent message for each group member. `person` is the member's first known address here, so
 * that a repeated receipt finds the row. `is_addressee`: was a member when the message was sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table message_receipt (
      message bigint not null references message (id) on delete cascade,
      person text not null,
      account_id bigint not null,
      instance_id bigint not null,
      jid text not null,
      lid text,
      phone text,
      is_addressee boolean not null,
      delivered_at timestamptz,
      read_at timestamptz,
      played_at timestamptz,
      primary key (message, person)
    )`.execute(db);
  await sql`create index message_receipt_instance on message_receipt (instance_id, message)`.execute(db);
}
