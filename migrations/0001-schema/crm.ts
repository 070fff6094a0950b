const OTHER_VARIANT = `case
    when phone ~ '^55[1-9]{2}9[6-9][0-9]{7}$' then left(phone, 4) || substr(phone, 6)
    when phone ~ '^55[1-9]{2}[6-9][0-9]{7}$' then left(phone, 4) || '9' || substr(phone, 5)
    when phone ~ '^521[0-9]{10}$' then '52' || substr(phone, 4)
    when phone ~ '^52[0-9]{10}$' then '521' || substr(phone, 3)
    when phone ~ '^549[0-9]{10}$' then '54' || substr(phone, 4)
    when phone ~ '^54[0-9]{10}$' then '549' || substr(phone, 3)
  end`;

/**
 * Leads, consent and campaigns. Both formats of a number are one person: for leads, for consent, and among the recipients
 * of a campaign.
 */
export const crm = `
-- Repeats the number functions of the contacts feature without calling other functions: an index rebuild has no search
-- path to find them.
create function canonical_number(phone text) returns text language sql immutable strict parallel safe as $$
  select least(phone collate "C", (${OTHER_VARIANT}) collate "C")
$$;
create function number_variants(phone text) returns text[] language sql immutable strict parallel safe as $$
  select array_remove(array[phone, ${OTHER_VARIANT}], null)
$$;

create table lead (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  phone text,
  lid text,
  name text,
  email text,
  status text not null default 'new',
  kanban_status text,
  tags text[] not null default '{}',
  custom_fields jsonb not null default '{}',
  opted_out_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index lead_person on lead (account_id, canonical_number(phone)) where phone is not null;
create unique index lead_lid on lead (account_id, lid) where lid is not null;
create index lead_account on lead (account_id, id desc);
create index lead_age on lead (account_id, updated_at);
create index lead_tags on lead using gin (tags);
-- Leads that wait for the phone behind their LID are few among many.
create index lead_unlinked on lead (id) where phone is null and lid is not null;

create table lead_note (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  lead_id bigint not null references lead on delete cascade,
  user_id bigint,
  note text not null,
  created_at timestamptz not null default now()
);
create index lead_note_lead on lead_note (lead_id, id desc);

create table custom_field (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  name text not null,
  type text not null check (type in ('text', 'number', 'boolean', 'date', 'select')),
  options text[] not null default '{}',
  created_at timestamptz not null default now(),
  unique (account_id, name)
);

create table quick_reply (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  shortcut text not null,
  title text,
  content text not null,
  media_url text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, shortcut)
);

-- Append-only: records change only by an erasure. The view shows the current state.
create table consent (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  user_id bigint,
  lead_id bigint,
  phone text,
  subject text not null generated always as (case
    when user_id is not null then 'user:' || user_id::text
    when phone is not null then 'phone:' || canonical_number(phone)
    when lead_id is not null then 'lead:' || lead_id::text
    else 'account' end) stored,
  purpose text not null,
  consent_type text not null,
  granted boolean not null,
  text_version text,
  text_hash text,
  channel text,
  ip text,
  created_at timestamptz not null default now()
);
create index consent_subject on consent (account_id, purpose, subject, id desc);
create view consent_state as
  select distinct on (account_id, purpose, subject) * from consent order by account_id, purpose, subject, id desc;
create function refuse_consent_change() returns trigger language plpgsql as $$
begin
  if current_setting('waygate.erasing', true) = 'on' then return new; end if;
  raise exception 'Consent is append-only.';
end $$;
create trigger append_only before update on consent for each row execute function refuse_consent_change();

-- Keyed digests of phones, so they survive an erasure.
create table suppression (
  account_id bigint not null references account on delete cascade,
  digest bytea not null,
  reason text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, digest)
);

-- A campaign outlives its instance, for its report.
create table campaign (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete cascade,
  instance_id bigint not null,
  lane bigint,
  name text not null,
  status text not null default 'created' check (status in
    ('created', 'scheduled', 'queued', 'running', 'paused', 'completed', 'cancelled', 'failed')),
  status_reason text,
  message_template text not null,
  media jsonb,
  min_delay_ms integer not null,
  max_delay_ms integer not null,
  scheduled_at timestamptz,
  quiet_hours jsonb,
  daily_limit integer,
  consent_purpose text,
  stop_on_error_rate float8,
  next_at timestamptz,
  waiting jsonb,
  totals jsonb,
  started_at timestamptz,
  resumed_at timestamptz,
  ended_at timestamptz,
  archived_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index campaign_account on campaign (account_id, id desc);
create index campaign_age on campaign (account_id, ended_at) where ended_at is not null;
create index campaign_file on campaign ((media ->> 'shared')) where media is not null;

-- person: whom the recipient turned out to be when it was queued; each person once in a campaign.
create table campaign_recipient (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  campaign_id bigint not null references campaign on delete cascade,
  phone text not null,
  variables jsonb not null default '{}',
  status text not null default 'pending' check (status in
    ('pending', 'queued', 'sent', 'delivered', 'read', 'failed', 'skipped')),
  reason text,
  message bigint,
  person text,
  planned_at timestamptz,
  decided_at timestamptz,
  created_at timestamptz not null default now(),
  unique (campaign_id, phone)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index campaign_recipient_list on campaign_recipient (campaign_id, id);
create index campaign_recipient_pending on campaign_recipient (campaign_id, id) where status = 'pending';
create index campaign_recipient_queued on campaign_recipient (campaign_id) where status = 'queued';
create unique index campaign_recipient_message on campaign_recipient (message) where message is not null;
create index campaign_recipient_phone on campaign_recipient (account_id, phone);
create unique index campaign_recipient_person on campaign_recipient (campaign_id, person) where person is not null;
create index campaign_recipient_number on campaign_recipient (campaign_id, canonical_number(phone));
`;
