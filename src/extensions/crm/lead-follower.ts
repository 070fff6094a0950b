import { sql } from "kysely";
import type { InboundFollower, InboundRow } from "../../core/messages/messages.ts";
import type { Trx } from "../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import { withdrawSendsTo } from "../campaigns/campaigns.ts";
import { isOptOut, type SuppressionList } from "../consent/consent.ts";

/**
 * Creates a lead for each new sender, in accounts with this setting. Opts a person out who asks for it.
 */
export function createLeadFollower(suppression: SuppressionList): InboundFollower {
  return async (trx, rows) => {
    const persons = rows
      .filter(({ from_me, chat_type }) => !from_me && chat_type === "contact")
      .map(toPerson);
    if (persons.length === 0) return;
    await addLeads(
      trx,
      persons.filter(({ creates_leads }) => creates_leads),
    );
    const leaving = persons.filter(({ text }) => isOptOut(text));
    if (leaving.length > 0) await optOut(trx, suppression, leaving);
  };
}

interface Person extends Pick<InboundRow, "account_id" | "creates_leads"> {
  phone: string | null;
  lid: string | null;
  name: string | null;
  text: string;
}

function toPerson(row: InboundRow): Person {
  const { account_id, creates_leads, chat_phone, chat_lid, jid, sender, content } = row;
  const lid = chat_lid ?? sender?.lid ?? (jid.endsWith("@lid") ? jid : null);
  return {
    account_id,
    creates_leads,
    phone: chat_phone ?? sender?.phone ?? null,
    lid,
    name: sender?.push_name ?? null,
    text: content.kind === "text" ? content.text : "",
  };
}

/** Adds leads up to the plan's limit; a person who is a lead already, by phone or by LID, stays unchanged. */
async function addLeads(trx: Trx, persons: readonly Person[]): Promise<void> {
  if (persons.length === 0) return;
  await sql`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(persons)}::jsonb) as x (
        account_id bigint, phone text, lid text, name text)
      ${rowCountHint(persons)}
    ), person as (
      select distinct on (account_id, coalesce(canonical_number(phone), lid)) account_id, phone, lid, name
      from input where coalesce(phone, lid) is not null order by account_id, coalesce(canonical_number(phone), lid)
    ), new_person as (
      select p.*, row_number() over (partition by p.account_id) as nth, plan.max_leads
      from person p join account a on a.id = p.account_id join plan on plan.id = a.plan_id
      where not exists (select from lead l where l.account_id = p.account_id and l.phone is not null
          and canonical_number(l.phone) = canonical_number(p.phone))
        and not exists (select from lead l where l.account_id = p.account_id and l.lid = p.lid)
    )
    insert into lead (account_id, phone, lid, name)
    select account_id, phone, lid, name from new_person
    where max_leads is null
      or nth + (select count(*) from lead l where l.account_id = new_person.account_id) <= max_leads
    order by account_id, coalesce(canonical_number(phone), lid)
    on conflict do nothing`.execute(trx);
}

async function optOut(trx: Trx, suppression: SuppressionList, leaving: readonly Person[]): Promise<void> {
  const known = leaving.flatMap(({ account_id, phone }) => (phone === null ? [] : [{ account_id, phone }]));
  // The phone of a LID may become known later.
  const lids = leaving.flatMap(({ account_id, lid }) => (lid === null ? [] : [{ account_id, phone: lid }]));
  await sql`
    with leaving as (
      select l.id from lead l
      join jsonb_to_recordset(${JSON.stringify(leaving)}::jsonb) as x (account_id bigint, phone text, lid text)
        on x.account_id = l.account_id
          and (canonical_number(l.phone) = canonical_number(x.phone) and l.phone is not null or x.lid = l.lid)
      order by l.id for update of l
    )
    update lead set opted_out_at = coalesce(opted_out_at, now()), updated_at = now()
    from leaving where lead.id = leaving.id`.execute(trx);
  await suppression.add(trx, [...known, ...lids], "keyword");
  if (known.length > 0) await withdrawSendsTo(trx, known);
}
