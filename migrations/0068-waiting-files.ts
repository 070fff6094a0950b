import { type Kysely, sql } from "kysely";

/**
 * Counts an account's whole storage: files in the store, files of pending sends, and the sandbox network's
 * copies. The last two are summed on request, since they disappear with their rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An older version goes on beside it, and names no account.
  await sql`alter table outgoing_media add column account_id bigint`.execute(db);
  await sql`
    update outgoing_media o set account_id = x.account_id
    from (
      select upload, account_id from media where upload is not null
      union
      select content ->> 'upload', account_id from message where status = 'pending' and content ->> 'upload' is not null
      union
      select media ->> 'shared', account_id from campaign where media ->> 'shared' is not null
    ) x where x.upload = o.id`.execute(db);
  await sql`create index outgoing_media_account on outgoing_media (account_id)`.execute(db);
  await sql`create index media_account on sandbox.media (account_id)`.execute(db);
  await sql`
    create function storage_of(account bigint) returns bigint language sql stable strict parallel safe as $$
      select coalesce((select bytes from storage_usage where account_id = account), 0)
        + (select coalesce(sum(octet_length(bytes)), 0) from outgoing_media where account_id = account)::bigint
        + (select coalesce(sum(octet_length(bytes)), 0) from sandbox.media where account_id = account)::bigint
    $$`.execute(db);
}
