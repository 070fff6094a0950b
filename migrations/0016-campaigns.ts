import { type Kysely, sql } from "kysely";

/**
 * Leads with notes and tags, consent, suppression, and campaigns with recipients. Consent is append-only; a
 * view shows the current state. Suppressed phones are keyed digests, so they survive an erasure. A campaign
 * outlives its instance, for its report.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addLeads(db);
  await addConsent(db);
  await addCampaigns(db);
}

async function addLeads(db: Kysely<unknown>): Promise<void> {
  await sql`
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
    )`.execute(db);
  await sql`create unique index lead_phone on lead (account_id, phone) where phone is not null`.execute(db);
  await sql`create unique index lead_lid on lead (account_id, lid) where lid is not null`.execute(db);
  await sql`create index lead_account on lead (account_id, id desc)`.execute(db);
  await sql`create index lead_tags on lead using gin (tags)`.execute(db);
  await sql`
    create table lead_note (
      id bigint generated always as identity primary key,
      account_id bigint not null,
      lead_id bigint not null references lead on delete cascade,
      user_id bigint,
      note text not null,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index lead_note_lead on lead_note (lead_id, id desc)`.execute(db);
  await sql`
    create table custom_field (
      id bigint generated always as identity primary key,
      account_id bigint not null references account on delete cascade,
      name text not null,
      type text not null check (type in ('text', 'number', 'boolean', 'date', 'select')),
      options text[] not null default '{}',
      created_at timestamptz not null default now(),
      unique (account_id, name)
    )`.execute(db);
  await sql`
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
    )`.execute(db);
  await sql`
    create index if not exists contact_account_phone on contact (account_id, phone)
    where phone is not null`.execute(db);
  await sql`
    create index conversation_account_phone on conversation (account_id, phone) where phone is not null`.execute(
    db,
  );
}

async function addConsent(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table consent (
      id bigint generated always as identity primary key,
      account_id bigint not null references account on delete cascade,
      user_id bigint,
      lead_id bigint,
      phone text,
      subject text not null generated always as (case
        when user_id is not null then 'user:' || user_id::text
        when phone is not null then 'phone:' || phone
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
    )`.execute(db);
  await sql`create index consent_subject on consent (account_id, purpose, subject, id desc)`.execute(db);
  await sql`
    create view consent_state as
    select distinct on (account_id, purpose, subject) * from consent
    order by account_id, purpose, subject, id desc`.execute(db);
  await sql`
    create table suppression (
      account_id bigint not null references account on delete cascade,
      digest bytea not null,
      reason text not null,
      created_at timestamptz not null default now(),
      primary key (account_id, digest)
    )`.execute(db);
}

async function addCampaigns(db: Kysely<unknown>): Promise<void> {
  await sql`
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
      started_at timestamptz,
      resumed_at timestamptz,
      ended_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index campaign_account on campaign (account_id, id desc)`.execute(db);
  await sql`create index campaign_file on campaign ((media ->> 'shared')) where media is not null`.execute(
    db,
  );
  await sql`
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
      planned_at timestamptz,
      decided_at timestamptz,
      created_at timestamptz not null default now(),
      unique (campaign_id, phone)
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)`.execute(db);
  await sql`create index campaign_recipient_list on campaign_recipient (campaign_id, id)`.execute(db);
  await sql`
    create index campaign_recipient_pending on campaign_recipient (campaign_id, id) where status = 'pending'`.execute(
    db,
  );
  await sql`
    create index campaign_recipient_queued on campaign_recipient (campaign_id) where status = 'queued'`.execute(
    db,
  );
  await sql`
    create unique index campaign_recipient_message on campaign_recipient (message) where message is not null`.execute(
    db,
  );
  await sql`create index campaign_recipient_phone on campaign_recipient (account_id, phone)`.execute(db);
}
