import { type Kysely, sql } from "kysely";

/**
 * The first sign-in of the owner. `awaits_owner`: the password is the generated one, and nobody has signed in.
 * `unseen_by`: the node that has generated the password and has not printed it yet. A link is stored as SHA-256.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table account_user
      add column awaits_owner boolean not null default false,
      add column unseen_by text`.execute(db);
  await sql`
    create table welcome_link (
      digest bytea primary key,
      user_id bigint not null references account_user (id) on delete cascade,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index welcome_link_user on welcome_link (user_id)`.execute(db);
}
