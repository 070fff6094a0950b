import { type Kysely, sql } from "kysely";

/**
 * Makes both formats of a number one person: for leads, for consent, and among the recipients of a campaign.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addSpellings(db);
  await keyConsent(db);
  await keepRefusals(db);
  await mergeLeads(db);
  await keyRecipients(db);
}

const OTHER_SPELLING = sql`case
  when phone ~ '^55[1-9]{2}9[6-9][0-9]{7}$' then left(phone, 4) || substr(phone, 6)
  when phone ~ '^55[1-9]{2}[6-9][0-9]{7}$' then left(phone, 4) || '9' || substr(phone, 5)
  when phone ~ '^521[0-9]{10}$' then '52' || substr(phone, 4)
  when phone ~ '^52[0-9]{10}$' then '521' || substr(phone, 3)
  when phone ~ '^549[0-9]{10}$' then '54' || substr(phone, 4)
  when phone ~ '^54[0-9]{10}$' then '549' || substr(phone, 3)
end`;

/**
 * Repeats the number functions of the contacts feature without calling other functions: an index rebuild has
 * no search path to find them.
 */
async function addSpellings(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function person_of(phone text) returns text language sql immutable strict parallel safe as $$
      select least(phone collate "C", (${OTHER_SPELLING}) collate "C")
    $$`.execute(db);
  await sql`
    create function spellings_of(phone text) returns text[] language sql immutable strict parallel safe as $$
      select array_remove(array[phone, ${OTHER_SPELLING}], null)
    $$`.execute(db);
}

async function keyConsent(db: Kysely<unknown>): Promise<void> {
  await sql`drop view consent_state`.execute(db);
  await sql`alter table consent drop column subject`.execute(db);
  await sql`
    alter table consent add column subject text not null generated always as (case
      when user_id is not null then 'user:' || user_id::text
      when phone is not null then 'phone:' || person_of(phone)
      when lead_id is not null then 'lead:' || lead_id::text
      else 'account' end) stored`.execute(db);
  await sql`create index consent_subject on consent (account_id, purpose, subject, id desc)`.execute(db);
  await sql`
    create view consent_state as
    select distinct on (account_id, purpose, subject) * from consent
    order by account_id, purpose, subject, id desc`.execute(db);
}

/**
 * A person was up to three subjects of consent: two spellings, and a lead. The last statement by time holds for the merged
 * one, and a refusal wins a tie. A consent with the channel `merge` repeats an earlier statement, so it is none of its own.
 */
async function keepRefusals(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into consent (account_id, lead_id, phone, purpose, consent_type, granted, channel)
    select last.account_id, last.lead_id, last.phone, last.purpose, last.consent_type, false, 'merge'
    from (
      select distinct on (c.account_id, c.purpose, person_of(x.phone)) c.account_id, c.lead_id, x.phone, c.purpose,
        c.consent_type, c.granted
      from consent c
      left join lead l on l.id = c.lead_id and l.account_id = c.account_id
      cross join lateral (select coalesce(c.phone, l.phone) as phone) x
      where c.user_id is null and x.phone is not null and not (c.granted and c.channel is not distinct from 'merge')
      order by c.account_id, c.purpose, person_of(x.phone), c.created_at desc, c.granted, c.id desc
    ) last
    left join consent_state s on s.account_id = last.account_id and s.purpose = last.purpose
      and s.subject = 'phone:' || person_of(last.phone)
    where not last.granted and s.granted is distinct from false`.execute(db);
}

/** The oldest lead of a person stays; an opt-out under one format applies to the person. */
async function mergeLeads(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ ids: number[] }>`
    select array_agg(id order by id) as ids from lead where phone is not null
    group by account_id, person_of(phone) having count(*) > 1`.execute(db);
  for (const { ids } of rows) {
    const [kept, ...others] = ids;
    for (const other of others) await mergeLead(db, Number(kept), Number(other));
  }
  await sql`drop index lead_phone`.execute(db);
  await sql`
    create unique index lead_person on lead (account_id, person_of(phone)) where phone is not null`.execute(
    db,
  );
}

async function mergeLead(db: Kysely<unknown>, kept: number, other: number): Promise<void> {
  await sql`update lead_note set lead_id = ${kept} where lead_id = ${other}`.execute(db);
  await sql`
    with gone as (delete from lead where id = ${other} returning *)
    update lead l set
      lid = coalesce(l.lid, g.lid), name = coalesce(nullif(l.name, ''), g.name), email = coalesce(l.email, g.email),
      kanban_status = coalesce(l.kanban_status, g.kanban_status),
      tags = array(select distinct tag from unnest(l.tags || g.tags) as t (tag) order by tag),
      custom_fields = g.custom_fields || l.custom_fields,
      opted_out_at = coalesce(l.opted_out_at, g.opted_out_at), updated_at = now()
    from gone g where l.id = ${kept}`.execute(db);
}

/** The person whom a recipient turned out to be when it was queued: each person once in a campaign. */
async function keyRecipients(db: Kysely<unknown>): Promise<void> {
  await sql`alter table campaign_recipient add column person text`.execute(db);
  await sql`
    update campaign_recipient r set person = x.person from (
      select distinct on (r.campaign_id, person_of(r.phone)) r.id, person_of(r.phone) as person
      from campaign_recipient r join campaign c on c.id = r.campaign_id
      where c.status not in ('completed', 'cancelled', 'failed') and r.status not in ('pending', 'skipped')
      order by r.campaign_id, person_of(r.phone), r.id
    ) x where r.id = x.id`.execute(db);
  await sql`
    create unique index campaign_recipient_person on campaign_recipient (campaign_id, person)
    where person is not null`.execute(db);
  await sql`
    create index campaign_recipient_spelling on campaign_recipient (campaign_id, person_of(phone))`.execute(
    db,
  );
}
