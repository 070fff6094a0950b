import { type Kysely, sql } from "kysely";

/** What a key may read: its own instance, or the whole account where an administrator said so. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_key
      add column scope text not null default 'instance' check (scope in ('instance', 'account'))`.execute(db);
}
