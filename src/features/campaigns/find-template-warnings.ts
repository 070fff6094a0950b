import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { CampaignRow } from "./campaign-row.ts";
import { invalidPlaceholdersOf, variablesOf } from "./render-template.ts";

export interface TemplateWarning {
  variable: string;
  missing: number;
  message: string;
}

/**
 * Variables that are empty for some waiting recipients, with their number; and text that only looks like a
 * variable.
 */
export async function findTemplateWarnings(db: Db, campaign: CampaignRow): Promise<TemplateWarning[]> {
  return [...strangers(campaign), ...(await findMissing(db, campaign))];
}

function strangers({ message_template }: CampaignRow): TemplateWarning[] {
  return invalidPlaceholdersOf(message_template).map((variable) => {
    return { variable, missing: 0, message: `${variable} is not a variable and is sent unchanged.` };
  });
}

async function findMissing(db: Db, campaign: CampaignRow): Promise<TemplateWarning[]> {
  const names = variablesOf(campaign.message_template).filter((name) => name !== "phone");
  if (names.length === 0) return [];
  const { rows } = await sql<{ variable: string; missing: number }>`
    select v.name as variable, count(*) as missing
    from campaign_recipient r
    cross join unnest(${names}::text[]) as v (name)
    left join lead l on l.account_id = r.account_id and l.phone is not null and canonical_number(l.phone) = canonical_number(r.phone)
    left join lateral (
      select max(push_name) as push_name from contact where instance_id = ${campaign.instance_id}
        and jid in (select one || '@s.whatsapp.net' from unnest(number_variants(r.phone)) one)
    ) p on true
    where r.campaign_id = ${campaign.id} and r.status = 'pending' and coalesce(r.variables ->> v.name, '') = ''
      and not (v.name = 'name' and coalesce(nullif(l.name, ''), p.push_name, '') <> '')
      and not (v.name = 'email' and coalesce(l.email, '') <> '')
      and not exists (
        select from jsonb_each_text(coalesce(l.custom_fields, '{}')) as f (name, value)
        where f.value <> '' and lower(f.name) in (v.name, substring(v.name from '^custom_fields\\.(.*)$')))
    group by v.name order by v.name`.execute(db);
  return rows.map(({ variable, missing }) => ({
    variable,
    missing,
    message: `{{${variable}}} stays empty for ${missing} ${missing === 1 ? "recipient" : "recipients"}.`,
  }));
}
