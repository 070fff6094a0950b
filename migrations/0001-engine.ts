import { type Kysely, sql } from "kysely";

/** Nodes, lanes and jobs. A lane row is cold: it is written only when its ownership changes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table node (
      id text primary key,
      boot integer not null,
      beat bigint not null default 0,
      dead boolean not null default false,
      url text,
      roles text[] not null,
      started_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table lane (
      id bigint generated always as identity primary key,
      kind text not null,
      key text not null,
      owner text,
      epoch bigint not null default 0,
      unique (kind, key)
    )`.execute(db);
  await sql`create index lane_owner on lane (owner)`.execute(db);
  await sql`
    create table job (
      id bigint generated always as identity primary key,
      lane bigint not null,
      prio smallint not null,
      pos bigint not null,
      grp text not null,
      run_at timestamptz not null default now(),
      attempts integer not null default 0,
      max_attempts integer,
      ref jsonb not null
    ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0)`.execute(db);
  await sql`create index job_lane on job (lane, prio, pos)`.execute(db);
}
