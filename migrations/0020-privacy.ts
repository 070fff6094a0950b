import { type Kysely, sql } from "kysely";

/**
 * Data requests of accounts, and the pseudonyms of a running anonymisation. Those are in an unlogged table
 * and deleted at its end, so that nobody can be identified again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table data_request (
      id bigint generated always as identity primary key,
      account_id bigint not null references account on delete cascade,
      request_type text not null check (request_type in ('export', 'anonymize')),
      scope text check (scope in ('account', 'messages', 'leads', 'conversations', 'all')),
      status text not null default 'processing' check (status in ('processing', 'completed', 'failed')),
      requested_by bigint,
      ip text,
      until jsonb not null,
      progress jsonb not null default '{"step": 0, "after": null}',
      affected jsonb not null default '{}',
      due_at timestamptz not null default now() + interval '15 days',
      created_at timestamptz not null default now(),
      processed_at timestamptz
    )`.execute(db);
  await sql`create index data_request_account on data_request (account_id, id desc)`.execute(db);
  await sql`
    create unlogged table surrogate (
      request bigint not null,
      subject text not null,
      name text not null,
      primary key (request, subject)
    )`.execute(db);
  await nameSurrogates(db);
  await keepConsent(db);
}

/** Phone, jid of that phone and its devices are one person; a LID or a group is a subject of its own. */
async function nameSurrogates(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function surrogate_of(run bigint, address text) returns text language plpgsql as $$
    declare
      domain text := coalesce(substring(address from '@.*$'), '');
      who text := split_part(split_part(address, '@', 1), ':', 1)
        || case when domain = '@s.whatsapp.net' then '' else domain end;
      found text;
    begin
      if coalesce(address, '') = '' or who like 'anon-%' then return address; end if;
      select name into found from surrogate where request = run and subject = who;
      if found is null then
        insert into surrogate (request, subject, name)
        values (run, who, 'anon-' || left(replace(gen_random_uuid()::text, '-', ''), 20)) on conflict do nothing;
        select name into strict found from surrogate where request = run and subject = who;
      end if;
      return found || domain;
    end $$`.execute(db);
}

/** Consent records change only by an erasure. */
async function keepConsent(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function refuse_consent_change() returns trigger language plpgsql as $$
    begin
      if current_setting('waygate.erasing', true) = 'on' then return new; end if;
      raise exception 'Consent is append-only.';
    end $$`.execute(db);
  await sql`
    create trigger append_only before update on consent
    for each row execute function refuse_consent_change()`.execute(db);
}
