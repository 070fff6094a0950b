import { type Kysely, sql } from "kysely";

/**
 * Storage used by each account: a stored file counts once per account, even if several messages use it.
 * Triggers count in the transaction of every change.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table plan add column max_storage_mb integer`.execute(db);
  await sql`
    create table stored_file (
      account_id bigint not null,
      blob bigint not null,
      size bigint not null,
      names bigint not null,
      primary key (account_id, blob)
    )`.execute(db);
  await sql`create table storage_usage (account_id bigint primary key, bytes bigint not null)`.execute(db);
  await sql`
    insert into stored_file (account_id, blob, size, names)
    select account_id, blob, max(coalesce(size, 0)), count(*) from media where blob is not null group by 1, 2`.execute(
    db,
  );
  await sql`
    insert into storage_usage (account_id, bytes) select account_id, sum(size) from stored_file group by 1`.execute(
    db,
  );
  for (const [event, rows, tables] of EVENTS) {
    const name = sql.ref(`count_storage_of_${event}`);
    await sql`
      create function ${name}() returns trigger language plpgsql as $$ begin ${sql.raw(countingOf(rows))} return null; end $$`.execute(
      db,
    );
    await sql`
      create trigger ${sql.ref(`count_storage_${event}`)} after ${sql.raw(event)} on media
      referencing ${sql.raw(tables)} for each statement execute function ${name}()`.execute(db);
  }
}

const ADDED = "select account_id, blob, size, 1 as step from new_rows where blob is not null";
const TAKEN = "select account_id, blob, size, -1 as step from old_rows where blob is not null";
const EVENTS = [
  ["insert", ADDED, "new table as new_rows"],
  ["update", `${ADDED} union all ${TAKEN}`, "old table as old_rows new table as new_rows"],
  ["delete", TAKEN, "old table as old_rows"],
] as const;

/** Rows are locked in one order: files by account and number, then accounts. */
function countingOf(rows: string): string {
  return `
    with change as materialized (
      select account_id, blob, max(coalesce(size, 0)) as size, sum(step)::bigint as step
      from (${rows}) x group by account_id, blob having sum(step) <> 0
    ), named as (
      insert into stored_file as f (account_id, blob, size, names)
      select account_id, blob, size, step from change order by account_id, blob
      on conflict (account_id, blob) do update set names = f.names + excluded.names
      returning account_id, blob, size, names
    ), counted as (
      select n.account_id, sum(case when n.names = 0 then -n.size when n.names = c.step then n.size else 0 end) as bytes
      from named n join change c using (account_id, blob) group by n.account_id
    )
    insert into storage_usage as u (account_id, bytes)
    select account_id, bytes::bigint from counted where bytes <> 0 order by account_id
    on conflict (account_id) do update set bytes = u.bytes + excluded.bytes;
    delete from stored_file f using (${rows}) x
    where f.account_id = x.account_id and f.blob = x.blob and f.names = 0;`;
}
