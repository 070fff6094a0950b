import type { Db } from "../../platform/db/database.ts";
import type { CampaignRow } from "./campaign-row.ts";
import { findWaitingRecipients } from "./choose-recipients.ts";
import { findTemplateWarnings } from "./find-template-warnings.ts";
import { readRecipient } from "./read-recipient.ts";
import { renderTemplate, valuesOf } from "./render-template.ts";

export interface PreviewCampaignOptions {
  limit: number;
  phone?: string;
  variables?: Record<string, unknown>;
}

const NOBODY = "1000000";

/** The rendered messages: for the next recipients, for one of them, or for sample variables. */
export async function previewCampaign(db: Db, campaign: CampaignRow, order: PreviewCampaignOptions) {
  return {
    previews: await readPreviews(db, campaign, order),
    warnings: await findTemplateWarnings(db, campaign),
  };
}

async function readPreviews(
  db: Db,
  campaign: CampaignRow,
  { limit, phone, variables }: PreviewCampaignOptions,
) {
  const { message_template } = campaign;
  if (variables) {
    const made = readRecipient({ phone: phone ?? NOBODY, variables });
    const values = valuesOf({
      phone: phone ?? "",
      variables: "variables" in made ? made.variables : {},
      lead: null,
      contact_name: null,
    });
    return [{ phone: phone ?? null, text: renderTemplate(message_template, values) }];
  }
  const digits = phone?.replace(/\D/g, "");
  const waiting = await findWaitingRecipients(db, campaign, {
    limit,
    ...(digits !== undefined && { phone: digits }),
  });
  return waiting.map((one) => ({ phone: one.phone, text: renderTemplate(message_template, valuesOf(one)) }));
}
