import { type Kysely, sql } from "kysely";

/**
 * An inbound message stays `received`; when this end has read it stands beside its status. A sync send finds the async
 * sends of its chat that wait before it by an index, however many wait for other chats.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table message add column read_at timestamptz`.execute(db);
  await sql`
    create index job_waiting_send on job (lane, grp) where prio = 1 and ref ->> 'do' = 'send'`.execute(db);
}
