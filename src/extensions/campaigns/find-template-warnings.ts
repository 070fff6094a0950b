import { sql } from "kysely";
import { isReachedPerson } from "../../core/contacts/contacts.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Reach } from "../../platform/reach.ts";
import { invalidPlaceholdersOf, variablesOf } from "../../platform/text/render-template.ts";
import type { CampaignRow } from "./campaign-row.ts";

export interface TemplateWarning {
  variable: string;
  missing: number;
  message: string;
}

/**
 * Variables that are empty for some waiting recipients, as far as leads within reach fill them in, with their number; and
 * text that only looks like a variable.
 */
export async function findTemplateWarnings(
  db: Db,
  campaign: CampaignRow,
  reach: Reach,
): Promise<TemplateWarning[]> {
  return [...strangers(campaign), ...(await findMissing(db, campaign, reach))];
}

function strangers({ message_template }: CampaignRow): TemplateWarning[] {
  return invalidPlaceholdersOf(message_template).map((variable) => {
    return { variable, missing: 0, message: `${variable} is not a variable and is sent unchanged.` };
  });
}

/** Recipients that are looked at: a start must not wait for seconds. */
const MOST_RECIPIENTS = 20_000;

/** Looks up each recipient's lead and contact once, whatever the number of variables. */
async function findMissing(db: Db, campaign: CampaignRow, reach: Reach): Promise<TemplateWarning[]> {
  const names = variablesOf(campaign.message_template).filter((name) => name !== "phone");
  if (names.length === 0) return [];
  const contactName = sql`(
    select max(push_name) from contact where instance_id = ${campaign.instance_id}
      and jid in (select one || '@s.whatsapp.net' from unnest(number_variants(r.phone)) one))`;
  const { rows } = await sql<{ variable: string; missing: number }>`
    with person as materialized (
      select r.variables, l.custom_fields, l.email, coalesce(nullif(l.name, ''),
        ${names.includes("name") ? contactName : sql`''`}) as name
      from (select * from campaign_recipient where campaign_id = ${campaign.id} and status = 'pending'
        order by id limit ${MOST_RECIPIENTS}) r
      left join lead l on l.account_id = r.account_id and l.phone is not null
        and canonical_number(l.phone) = canonical_number(r.phone) and ${isReachedPerson(reach, { phone: sql`r.phone` })}
    ), present as (
      select v.name, count(*) as count
      from person p cross join lateral (
        select key as name from jsonb_each_text(p.variables) where value <> ''
        union select lower(key) from jsonb_each_text(p.custom_fields) where value <> ''
        union select 'custom_fields.' || lower(key) from jsonb_each_text(p.custom_fields) where value <> ''
        union select 'name' where p.name <> ''
        union select 'email' where p.email <> '') v
      where v.name = any(${names}::text[]) group by v.name
    )
    select wanted.name as variable, all_of.count - coalesce(present.count, 0) as missing
    from unnest(${names}::text[]) as wanted (name)
    cross join (select count(*) as count from person) all_of
    left join present on present.name = wanted.name
    where all_of.count > coalesce(present.count, 0) order by wanted.name`.execute(db);
  return rows.map(({ variable, missing }) => ({
    variable,
    missing,
    message: `{{${variable}}} stays empty for ${missing} ${missing === 1 ? "recipient" : "recipients"}.`,
  }));
}
