/** The sandbox network: its own state, separate from the gateway's, and a network of its own for every account. */
export const sandbox = `
create schema sandbox;

-- token: the SHA-256 of the device's token, in hexadecimal. A pairing carries it to the new device.
create table sandbox.device (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  phone text not null,
  token text not null unique,
  push_name text,
  created_at timestamptz not null default now(),
  linked_at timestamptz,
  unlinked_at timestamptz,
  banned_at timestamptz,
  session text,
  host integer,
  logged_in_at timestamptz
);
create index device_phone on sandbox.device (account_id, phone) where linked_at is not null and unlinked_at is null;

create table sandbox.pairing (
  id text primary key,
  account_id bigint not null,
  host integer not null,
  code text,
  phone text,
  token text not null,
  device bigint references sandbox.device,
  expires_at timestamptz not null
);

create table sandbox.person (
  account_id bigint not null,
  phone text not null,
  name text,
  about text,
  picture text,
  verified_name text,
  business jsonb,
  privacy jsonb not null default '{}',
  catalog jsonb,
  primary key (account_id, phone)
);
create table sandbox.picture (id text primary key, bytes bytea not null);
create table sandbox.address_book (
  account_id bigint not null,
  owner text not null,
  phone text not null,
  name text,
  known text not null default 'both',
  is_blocked boolean not null default false,
  primary key (account_id, owner, phone)
);
create table sandbox.chat_state (
  account_id bigint not null,
  owner text not null,
  chat text not null,
  archived boolean not null default false,
  pinned boolean not null default false,
  muted_until timestamptz,
  unread boolean not null default false,
  primary key (account_id, owner, chat)
);

-- A label has a row with a name, and one for each chat or message that has it.
create table sandbox.label (
  account_id bigint not null,
  owner text not null,
  id text not null,
  chat text not null default '',
  message_id text not null default '',
  name text,
  color integer,
  primary key (account_id, owner, id, chat, message_id)
);

create table sandbox.group_chat (
  account_id bigint not null,
  jid text not null,
  subject text not null,
  description text,
  owner text,
  announce boolean not null default false,
  locked boolean not null default false,
  join_approval boolean not null default false,
  members_can_add boolean not null default true,
  invite text not null,
  picture text,
  created_at timestamptz not null default now(),
  primary key (account_id, jid)
);
create unique index group_chat_invite on sandbox.group_chat (account_id, invite);
create table sandbox.group_member (
  account_id bigint not null,
  group_jid text not null,
  phone text not null,
  admin text,
  position bigint generated always as identity,
  primary key (account_id, group_jid, phone)
);
create index group_member_phone on sandbox.group_member (account_id, phone);
create table sandbox.group_request (
  account_id bigint not null,
  group_jid text not null,
  phone text not null,
  requested_at timestamptz not null default now(),
  primary key (account_id, group_jid, phone)
);

create table sandbox.message (
  account_id bigint not null,
  phone text not null,
  id text not null,
  chat text not null,
  body text,
  poll jsonb,
  at timestamptz not null default now(),
  primary key (account_id, phone, id)
);
create table sandbox.inbox (
  id bigint generated always as identity primary key,
  device bigint not null references sandbox.device,
  chat text not null,
  kind text not null,
  body jsonb not null,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index inbox_device on sandbox.inbox (device, due_at, id);

create table sandbox.media (
  account_id bigint not null,
  id text not null,
  bytes bytea not null,
  expires_at timestamptz not null default now() + interval '30 days',
  primary key (account_id, id)
);
alter table sandbox.media alter column bytes set storage external;

-- Every arrival at the network, repeated ones too, in the manner of an access log: a checker compares it with ours.
create table sandbox.ledger (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  device bigint not null,
  phone text not null,
  session text,
  action text not null,
  outcome text not null,
  message_id text,
  target_id text,
  chat text,
  kind text,
  content jsonb,
  open integer
);
`;
