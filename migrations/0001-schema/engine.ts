/** Nodes, lanes and jobs. A lane row is cold: it is written only when its ownership changes. */
export const engine = `
create table node (
  id text primary key,
  boot integer not null,
  heartbeat bigint not null default 0,
  dead boolean not null default false,
  url text,
  roles text[] not null,
  memory bigint,
  memory_at_start bigint,
  started_at timestamptz not null default now()
);

create table lane (
  id bigint generated always as identity primary key,
  kind text not null,
  key text not null,
  owner text,
  epoch bigint not null default 0,
  unique (kind, key)
);
create index lane_owner on lane (owner);

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
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index job_lane on job (lane, prio, pos);
-- A sync send finds the async sends of its chat that wait before it, however many wait for other chats.
create index job_waiting_send on job (lane, grp) where prio = 1 and ref ->> 'do' = 'send';
`;
