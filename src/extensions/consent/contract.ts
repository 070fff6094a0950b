import { z } from "zod";
import { isoTime, pagination, route, rowId, searchAliases, searchInput } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { trimmedText } from "../../platform/text/bounded-text.ts";

const label = trimmedText(64).min(1, "must not be empty");

const record = named(
  "ConsentRecord",
  z.object({
    consentId: z.number().int(),
    userId: z.number().int().nullable(),
    lead_id: z.number().int().nullable(),
    phone: z.string().nullable(),
    purpose: z.string(),
    consent_type: z.string(),
    granted: z.boolean(),
    text_version: z.string().nullable(),
    text_hash: z.string().nullable(),
    channel: z.string().nullable(),
    current: z.boolean().describe("Whether this is the latest record of the subject and purpose."),
    created_at: isoTime,
  }),
);

const TAG = { access: "account", keepsToInstances: true, tag: "Privacy" } as const;

export const consentContract = {
  recordConsent: route({
    ...TAG,
    http: "POST /api/data/consent",
    errors: ["NOT_FOUND"],
    summary:
      "Record a consent, or with `granted: false` its withdrawal; records are never changed or deleted",
    description:
      "The subject is `userId` (a user of the account), `lead_id`, `phone`, or the account itself if none is given. A lead with a phone means that phone. Campaigns with a `consent_purpose` send only to phones whose latest record grants it.",
    message: "Consent recorded",
    example: { phone: "5511999990004", purpose: "offers", consent_type: "opt_in", granted: true },
    input: z.object({
      purpose: label,
      consent_type: label,
      granted: z.boolean(),
      userId: rowId.optional(),
      lead_id: rowId.optional(),
      phone: z
        .union([trimmedText(200).min(1), z.number().int().positive().transform(String)])
        .optional()
        .describe("Digits with country and area code."),
      text_version: trimmedText(64).optional().describe("Version of the text that the person read."),
      text_hash: trimmedText(128).optional(),
      channel: label.optional().describe("Where the consent was given: `web`, `whatsapp`, `paper`."),
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
    summary:
      "List the consent records of the account (`me`), of one of its users or of a phone, newest first",
    message: "Consent records",
    aliases: { ...searchAliases, phone: ["number"] },
    input: z.object({
      ...searchInput,
      userId: z.union([z.literal("me"), rowId], "must be `me` or a user id"),
      phone: trimmedText(200).min(1).optional().describe("Only the records of this phone."),
    }),
    output: z.array(record),
    beside: z.object({ pagination }),
  }),
};
