/**
 * Assistants that users connect through OAuth. A client that is known by its URL has no row in `oauth_client`. A grant is
 * what one user allowed one client. Codes and tokens are stored as SHA-256.
 */
export const oauth = `
create table oauth_client (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  network cidr not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create table oauth_grant (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  user_id bigint not null references account_user on delete cascade,
  client_id text not null,
  client_name text not null,
  redirect_host text not null,
  scopes text[] not null,
  instance_ids bigint[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '90 days',
  activated_at timestamptz,
  last_used_at timestamptz
);
create index oauth_grant_account on oauth_grant (account_id, id);
create index oauth_grant_user on oauth_grant (user_id);
create index oauth_grant_client on oauth_grant (client_id);

create table oauth_code (
  digest bytea primary key,
  grant_id bigint not null references oauth_grant on delete cascade,
  redirect_uri text not null,
  challenge text not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index oauth_code_grant on oauth_code (grant_id);

create table oauth_token (
  digest bytea primary key,
  grant_id bigint not null references oauth_grant on delete cascade,
  kind text not null check (kind in ('access', 'refresh')),
  scopes text[] not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index oauth_token_grant on oauth_token (grant_id);
`;
