/** Plans, accounts, their users and sign-ins. A null limit is no limit. */
export const accounts = `
-- The form in which names are compared by searches: no case, no accents, no invisible characters, the usual letters
-- for those that do not decompose.
create function search_form(name text) returns text language sql immutable strict parallel safe as $$
  select case when octet_length(name) = char_length(name) then lower(name)
    else lower(replace(replace(replace(replace(translate(
      regexp_replace(normalize(name, nfkd), '[\\u0300-\\u036f\\u200b-\\u200f\\u2060\\ufeff]', '', 'g'),
      'ŁłØøĐđÐðĦħŦŧıẞÆŒÞ', 'llooddddhhttißæœþ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')) end
$$;

create table plan (
  id bigint generated always as identity primary key,
  name text not null unique,
  price numeric(12, 2) not null default 0,
  max_instances integer,
  max_users integer,
  max_messages integer,
  max_campaigns integer,
  max_leads integer,
  max_storage_mb integer,
  max_accounts integer,
  api_rate_limit_per_minute integer,
  instance_rate_limit_per_minute integer,
  message_rate_limit_per_minute integer,
  features jsonb not null default '{}'
);
insert into plan (name, api_rate_limit_per_minute, instance_rate_limit_per_minute, message_rate_limit_per_minute)
values ('unlimited', null, null, null), ('standard', 600, 300, 120);

-- A removed account stays hidden until nothing of it is left.
create table account (
  id bigint generated always as identity primary key,
  name text not null,
  account_type text not null check (account_type in ('owner', 'reseller', 'client')),
  status text not null default 'active'
    check (status in ('active', 'trial', 'paused', 'blocked', 'expired', 'cancelled')),
  plan_id bigint not null references plan,
  settings jsonb not null default '{}',
  parent_id bigint references account,
  trial_ends_at timestamptz,
  suspended_by_owner boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  removed_at timestamptz
);
create index account_parent on account (parent_id, id) where parent_id is not null;
create index account_trial on account (trial_ends_at) where status = 'trial';
create index account_removed on account (removed_at) where removed_at is not null;

-- A trial is over at its time, whenever its row is changed.
create function account_state(account) returns text language sql stable as $$
  select case when $1.status = 'trial' and $1.trial_ends_at <= now() then 'expired' else $1.status end
$$;

-- One e-mail address may belong to users of several accounts, so that no account learns which addresses others use.
-- awaits_owner: the password is the generated one, and nobody has signed in.
-- unseen_by: the node that has generated the password and has not printed it yet.
-- must_change_password: somebody else has chosen the password, or the gateway has generated it.
-- instance_ids: the only instances that an agent reaches; null: all of the account. A removed one is taken off.
create table account_user (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  name text not null,
  email text not null,
  role text not null check (role in ('super_admin', 'admin', 'agent')),
  password_hash text not null,
  awaits_owner boolean not null default false,
  unseen_by text,
  must_change_password boolean not null default false,
  instance_ids bigint[] check (instance_ids is null or role = 'agent'),
  created_at timestamptz not null default now()
);
create unique index account_user_email on account_user (lower(email), account_id);
create index account_user_account on account_user (account_id, id);

-- The digest is the SHA-256 of the link's token.
create table welcome_link (
  digest bytea primary key,
  user_id bigint not null references account_user on delete cascade,
  expires_at timestamptz not null
);
create index welcome_link_user on welcome_link (user_id);

create table sign_in (
  id text primary key,
  user_id bigint not null references account_user on delete cascade,
  confirmed_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sign_in_user on sign_in (user_id);

-- Uses that a limit of all nodes together counts, such as wrong passwords.
create table use_counter (
  kind text not null,
  key bytea not null,
  uses integer not null,
  started_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (kind, key)
);
create index use_counter_last_at on use_counter (last_at);

-- Stored responses for an account's repeated Idempotency-Keys.
create table account_idempotency (
  account_id bigint not null references account on delete cascade,
  route text not null,
  key text not null,
  fingerprint bytea not null,
  response bytea,
  created_at timestamptz not null default now(),
  primary key (account_id, route, key)
);
create index account_idempotency_age on account_idempotency (created_at);
`;
