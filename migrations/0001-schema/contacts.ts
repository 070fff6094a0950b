/** One contact row per person with all addresses, one conversation per chat, and the last known state of groups. */
export const contacts = `
create table contact (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null,
  jid text not null,
  lid text,
  phone text,
  name text,
  push_name text,
  verified_name text,
  is_business boolean,
  about text,
  picture_url text,
  is_blocked boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (instance_id, jid)
);
create unique index contact_lid on contact (instance_id, lid) where lid is not null;
create index contact_list on contact (instance_id, id);
create index contact_account_phone on contact (account_id, phone) where phone is not null;

create table number_check (
  instance_id bigint not null,
  account_id bigint not null,
  number text not null,
  jid text,
  lid text,
  verified_name text,
  checked_at timestamptz not null default now(),
  primary key (instance_id, number)
);

-- A conversation that has become part of another stays as a sign to it; merged_at is set while messages may still
-- arrive there. Free space in the pages lets the time of the last message change without a new index entry.
create table conversation (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null,
  jid text not null,
  phone text,
  title text,
  type text not null check (type in ('contact', 'group')),
  contact_id bigint,
  merged_into bigint,
  merged_at timestamptz,
  last_message_at timestamptz,
  archived boolean not null default false,
  pinned boolean not null default false,
  muted_until timestamptz,
  marked_unread boolean not null default false,
  created_at timestamptz not null default now(),
  unique (instance_id, jid)
) with (fillfactor = 80);
create index conversation_merged on conversation (merged_at) where merged_at is not null;
create index conversation_account_phone on conversation (account_id, phone) where phone is not null;

create table group_chat (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null,
  jid text not null,
  subject text not null,
  description text,
  owner text,
  announce boolean not null,
  locked boolean not null,
  join_approval boolean not null,
  members_can_add boolean not null,
  participants jsonb not null,
  group_created_at timestamptz,
  read_at timestamptz not null default now(),
  is_stale boolean not null default false,
  updated_at timestamptz not null default now(),
  unique (instance_id, jid)
);
create index group_chat_list on group_chat (instance_id, id);

create table label (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null references instance on delete cascade,
  me text not null,
  label_id text not null,
  name text,
  color integer,
  is_deleted boolean not null default false,
  updated_at timestamptz not null default now(),
  unique (instance_id, me, label_id)
);
create table labelled (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null,
  label bigint not null references label on delete cascade,
  jid text not null,
  message_id text,
  created_at timestamptz not null default now()
);
create unique index labelled_once on labelled (label, jid, coalesce(message_id, ''));
create index labelled_instance on labelled (instance_id, id);

create table status_update (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null references instance on delete cascade,
  message_id text not null,
  type text not null,
  content jsonb not null,
  audience integer not null,
  sent_at timestamptz,
  created_at timestamptz not null default now(),
  unique (instance_id, message_id)
);
create index status_update_list on status_update (instance_id, id);
create table status_view (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  instance_id bigint not null,
  status bigint not null references status_update on delete cascade,
  jid text not null,
  lid text,
  phone text,
  viewed_at timestamptz not null,
  unique (status, jid)
);
create index status_view_instance on status_view (instance_id, id);

-- me is the pairing whose groups these are; those of another one are not shown.
create table group_list (
  instance_id bigint primary key,
  account_id bigint not null,
  me text not null,
  read_at timestamptz,
  is_stale boolean not null default false
);
`;
