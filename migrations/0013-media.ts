import { type Kysely, sql } from "kysely";

/**
 * One media row per message with a file, one blob per stored file. A blob has its own name in the store, so
 * that a deletion cannot hit a new copy of the same content; the foreign key protects a referenced blob.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table blob (
      id bigint generated always as identity primary key,
      name text not null unique,
      sha256 text not null,
      size bigint not null,
      node text,
      status text not null default 'arriving' check (status in ('arriving', 'kept', 'doomed')),
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index blob_sha256 on blob (sha256) where status = 'kept'`.execute(db);
  await sql`create index blob_unfinished on blob (created_at) where status <> 'kept'`.execute(db);
  await sql`
    create table media (
      id text primary key default 'med_' || replace(gen_random_uuid()::text, '-', ''),
      account_id bigint not null,
      instance_id bigint not null,
      message bigint not null unique,
      status text not null check (status in ('pending', 'ready', 'failed', 'expired')),
      reason text,
      blob bigint references blob (id),
      upload text,
      sha256 text,
      size bigint,
      mime_type text not null,
      file_name text,
      created_at timestamptz not null default now(),
      ready_at timestamptz
    )`.execute(db);
  await sql`create index media_blob on media (blob) where blob is not null`.execute(db);
  await sql`create index media_upload on media (upload) where upload is not null`.execute(db);
  await sql`create index media_age on media (instance_id, ready_at) where status = 'ready'`.execute(db);
}
