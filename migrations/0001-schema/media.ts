const ADDED = "select account_id, blob, size, 1 as step from new_rows where blob is not null";
const REMOVED = "select account_id, blob, size, -1 as step from old_rows where blob is not null";

/** Counts in the transaction of every change. Rows are locked in one order: files by account and number, then accounts. */
const countStorage = (event: string, rows: string, tables: string) => `
create function count_storage_of_${event}() returns trigger language plpgsql as $$ begin
  with change as materialized (
    select account_id, blob, max(coalesce(size, 0)) as size, sum(step)::bigint as step
    from (${rows}) x group by account_id, blob having sum(step) <> 0
  ), named as (
    insert into stored_file as f (account_id, blob, size, reference_count)
    select account_id, blob, size, step from change order by account_id, blob
    on conflict (account_id, blob) do update set reference_count = f.reference_count + excluded.reference_count
    returning account_id, blob, size, reference_count
  ), counted as (
    select n.account_id, sum(case when n.reference_count = 0 then -n.size when n.reference_count = c.step then n.size else 0 end) as bytes
    from named n join change c using (account_id, blob) group by n.account_id
  )
  insert into storage_usage as u (account_id, bytes)
  select account_id, bytes::bigint from counted where bytes <> 0 order by account_id
  on conflict (account_id) do update set bytes = u.bytes + excluded.bytes;
  delete from stored_file f using (${rows}) x
  where f.account_id = x.account_id and f.blob = x.blob and f.reference_count = 0;
  return null;
end $$;
create trigger count_storage_${event} after ${event} on media referencing ${tables}
  for each statement execute function count_storage_of_${event}();
`;

/** Files of messages. After the sandbox network, whose copies count as storage of an account. */
export const media = `
-- Files of pending sends, in parts.
create table outgoing_media (
  id text not null,
  account_id bigint not null,
  part integer not null,
  bytes bytea not null,
  created_at timestamptz not null default now(),
  primary key (id, part)
);
alter table outgoing_media alter column bytes set storage external;
create index outgoing_media_age on outgoing_media (created_at);
create index outgoing_media_account on outgoing_media (account_id);

-- One row per stored file. It has its own name in the store, so that a deletion cannot hit a new copy of the same
-- content; the foreign key protects a referenced blob.
create table blob (
  id bigint generated always as identity primary key,
  name text not null unique,
  sha256 text not null,
  size bigint not null,
  node text,
  status text not null default 'uploading' check (status in ('uploading', 'stored', 'deleting')),
  created_at timestamptz not null default now()
);
create index blob_sha256 on blob (sha256) where status = 'stored';
create index blob_unfinished on blob (created_at) where status <> 'stored';

-- One row per message with a file.
create table media (
  id text primary key default 'med_' || replace(gen_random_uuid()::text, '-', ''),
  account_id bigint not null,
  instance_id bigint not null,
  message bigint not null unique,
  status text not null check (status in ('pending', 'ready', 'failed', 'expired')),
  reason text,
  blob bigint references blob,
  upload text,
  sha256 text,
  size bigint,
  mime_type text not null,
  file_name text,
  created_at timestamptz not null default now(),
  ready_at timestamptz
);
create index media_blob on media (blob) where blob is not null;
create index media_upload on media (upload) where upload is not null;
create index media_age on media (instance_id, ready_at) where status = 'ready';

-- Storage used by each account: a stored file counts once per account, even if several messages use it.
create table stored_file (
  account_id bigint not null,
  blob bigint not null,
  size bigint not null,
  reference_count bigint not null,
  primary key (account_id, blob)
);
create table storage_usage (account_id bigint primary key, bytes bigint not null);
${countStorage("insert", ADDED, "new table as new_rows")}
${countStorage("update", `${ADDED} union all ${REMOVED}`, "old table as old_rows new table as new_rows")}
${countStorage("delete", REMOVED, "old table as old_rows")}
-- Files in the store, files of pending sends, and the sandbox network's copies. The last two are summed on request, since
-- they disappear with their rows.
create function storage_of(account bigint) returns bigint language sql stable strict parallel safe as $$
  select coalesce((select bytes from storage_usage where account_id = account), 0)
    + (select coalesce(sum(octet_length(bytes)), 0) from outgoing_media where account_id = account)::bigint
    + (select coalesce(sum(octet_length(bytes)), 0) from sandbox.media where account_id = account)::bigint
$$;
`;
