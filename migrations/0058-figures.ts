import { type Kysely, sql } from "kysely";

/**
 * `tally_open` holds the messages that had no outcome when the month was counted. Messages are found by the `track_id`
 * of the client.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table tally_open (
      message bigint primary key,
      account_id bigint not null,
      month date not null
    )`.execute(db);
  await sql`
    create index message_track on message (instance_id, track_id, sent_at desc, id desc)
    where track_id is not null`.execute(db);
}
