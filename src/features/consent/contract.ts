import { z } from "zod";
import { isoTime, pageInput, pagination, route, rowId } from "../../platform/http/route.ts";
import { trimmedText } from "../../platform/text/bounded-text.ts";

const label = trimmedText(64).min(1, "must not be empty");

const record = z.object({
  consentId: z.number(),
  userId: z.number().nullable(),
  lead_id: z.number().nullable(),
  phone: z.string().nullable(),
  purpose: z.string(),
  consent_type: z.string(),
  granted: z.boolean(),
  text_version: z.string().nullable(),
  text_hash: z.string().nullable(),
  channel: z.string().nullable(),
  current: z.boolean().describe("The last word on this subject and purpose."),
  created_at: isoTime,
});

const TAG = { access: "account", tag: "Privacy" } as const;

export const consentContract = {
  recordConsent: route({
    ...TAG,
    http: "POST /api/data/consent",
    summary: "Record a consent, or with `granted: false` its withdrawal; nothing is ever changed or removed",
    description:
      "Whom it is about: `userId`, a user of the account, `lead_id`, a lead, or `phone`; without any the account itself. A lead with a phone stands for that phone. Campaigns with a `consent_purpose` write only to phones whose last word on it is yes.",
    message: "Consent recorded",
    example: { phone: "5511999990004", purpose: "offers", consent_type: "opt_in", granted: true },
    input: z.object({
      purpose: label,
      consent_type: label,
      granted: z.boolean(),
      userId: rowId.optional(),
      lead_id: rowId.optional(),
      phone: z
        .union([trimmedText(40).min(1), z.number().int().positive().transform(String)])
        .optional()
        .describe("Digits with country and area code."),
      text_version: trimmedText(64).optional().describe("Of what the person has read."),
      text_hash: trimmedText(128).optional(),
      channel: label.optional().describe("Where it was said: `web`, `whatsapp`, `paper`."),
    }),
    aliases: {
      userId: ["user_id"],
      lead_id: ["leadId"],
      phone: ["number"],
      consent_type: ["consentType", "type"],
      text_version: ["textVersion"],
      text_hash: ["textHash"],
    },
    output: record,
  }),

  listConsent: route({
    ...TAG,
    http: "GET /api/data/consent/:userId",
    summary: "List what was recorded for the account (`me`) or one of its users, newest first",
    message: "Consent records",
    input: z.object({ ...pageInput, userId: z.union([z.literal("me"), rowId], "must be `me` or a user id") }),
    output: z.array(record),
    beside: z.object({ pagination }),
  }),
};
