import type { Db } from "../../platform/db/database.ts";
import type { Reach } from "../../platform/reach.ts";
import { type FindCountry, readPhone } from "../contacts/contacts.ts";
import type { CampaignRow } from "./campaign-row.ts";
import { findWaitingRecipients } from "./choose-recipients.ts";
import { findTemplateWarnings } from "./find-template-warnings.ts";
import { readRecipient } from "./read-recipient.ts";
import { createRenderer, LONGEST_MESSAGE, type RecipientFacts, valuesOf } from "./render-template.ts";

export interface PreviewDeps {
  db: Db;
  findCountry: FindCountry;
}

export interface PreviewCampaignOptions {
  limit: number;
  phone?: string;
  variables?: Record<string, unknown>;
  /** Whose leads fill in variables. */
  reach: Reach;
}

const NOBODY = "15550000000";
/** Characters of a text that is too long to be sent. */
const SHOWN = 1_000;

/** The rendered messages: for the next recipients, for one of them, or for sample variables. */
export async function previewCampaign(
  deps: PreviewDeps,
  campaign: CampaignRow,
  order: PreviewCampaignOptions,
) {
  return {
    previews: await readPreviews(deps, campaign, order),
    warnings: await findTemplateWarnings(deps.db, campaign, order.reach),
  };
}

async function readPreviews(
  { db, findCountry }: PreviewDeps,
  campaign: CampaignRow,
  { limit, phone, variables, reach }: PreviewCampaignOptions,
) {
  const render = createRenderer(campaign.message_template);
  const toPreview = (facts: RecipientFacts) => {
    const text = render(valuesOf(facts));
    const too_long = text.length > LONGEST_MESSAGE;
    return { phone: facts.phone || null, text: too_long ? text.slice(0, SHOWN) : text, too_long };
  };
  if (variables) {
    const made = readRecipient({ phone: NOBODY, variables }, 1, { isConfirmed: true });
    const own = "variables" in made ? made.variables : {};
    return [toPreview({ phone: phone ?? "", variables: own, lead: null, contact_name: null })];
  }
  const country = await findCountry({ instance_id: campaign.instance_id }, [phone]);
  const digits = phone === undefined ? undefined : readPhone("phone", phone, country);
  const waiting = await findWaitingRecipients(db, campaign, {
    limit,
    reach,
    ...(digits !== undefined && { phone: digits }),
  });
  return waiting.map(toPreview);
}
