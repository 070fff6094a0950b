import { z } from "zod";
import { pagination, route, type UploadedFile } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, trimmedText } from "../../platform/text/bounded-text.ts";
import { recipientAliases } from "../contacts/contract.ts";
import { instanceId as id } from "../events/contract.ts";
import { SESSION_ERRORS } from "../instances/contract.ts";

/** Enough for the largest picture in base64. */
const PICTURE_BODY_BYTES = 24 * 1024 * 1024;

const pictureText = boundedText(PICTURE_BODY_BYTES);

const hours = named(
  "BusinessHours",
  z.object({
    timezone: z.string().nullable(),
    days: z.array(
      z.object({
        day: z.string().describe("The first three letters of the English name."),
        mode: z.string().describe("`specific_hours`, `open_24h` or `appointment_only`."),
        opens: z.string().nullable().describe("`HH:MM`."),
        closes: z.string().nullable(),
      }),
    ),
  }),
);

const text = z.string().nullable();

const business = named(
  "Business",
  z.object({
    jid: z.string(),
    lid: text,
    phone: text,
    name: text,
    description: text,
    category: text,
    email: text,
    address: text,
    website: z.array(z.string()),
    hours: hours.nullable(),
  }),
);

const product = named(
  "Product",
  z.object({
    id: z.string(),
    name: z.string(),
    description: text,
    price: z.number().nullable().describe("In units of the currency; null: not shown."),
    currency: text,
    url: text,
    image_url: text,
    retailer_id: text.describe("The number that the business itself has given to the product."),
    is_hidden: z.boolean(),
  }),
);

const profile = named(
  "Profile",
  z.object({
    jid: z.string(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    name: z.string().nullable(),
    about: z.string().nullable(),
    status: z.string().nullable().describe("As `about`."),
    picture_url: z.string().nullable(),
    is_business: z.boolean(),
    business: z
      .object({
        description: z.string().optional(),
        category: z.string().optional(),
        email: z.string().optional(),
        website: z.array(z.string()).optional(),
        address: z.string().optional(),
        hours: hours.optional(),
      })
      .nullable(),
    privacy: z
      .record(z.string(), z.string())
      .describe(
        "Privacy settings under the network's names, such as `last` or `groupadd`: who may see or do it.",
      ),
  }),
);

function isUpload(value: unknown): boolean {
  return typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
}

/** With the names and values of the network. */
const privacySettings = {
  last: z.enum(["all", "contacts", "contact_blacklist", "none"]).optional().describe("Last seen."),
  online: z.enum(["all", "match_last_seen"]).optional(),
  profile: z.enum(["all", "contacts", "contact_blacklist", "none"]).optional().describe("Profile picture."),
  status: z.enum(["all", "contacts", "contact_blacklist", "none"]).optional().describe("About text."),
  readreceipts: z.enum(["all", "none"]).optional(),
  groupadd: z
    .enum(["all", "contacts", "contact_blacklist"])
    .optional()
    .describe("Who may add the phone to groups."),
  calladd: z.enum(["all", "known"]).optional().describe("Who may call."),
  messages: z.enum(["all", "contacts"]).optional().describe("Who may write."),
};

const PRIVACY_NAMES = Object.keys(privacySettings).join(", ");

const whose = boundedText(200).min(1).optional().describe("Digits with country and area code, or a jid.");

const whoseAliases = { number: ["phone", "jid", ...recipientAliases.number] };

const tag = "Profile";
const access = "instance";

export const profileContract = {
  getProfile: route({
    http: "GET /api/v1/instances/:id/profile",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Get the profile of the paired phone, its business data and its privacy settings",
    message: "Profile",
    input: z.object({ id }),
    output: profile,
  }),
  setProfileName: route({
    http: "POST /api/v1/instances/:id/profile/name",
    role: "admin",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Change the name that others see",
    message: "Name changed",
    aliases: { name: ["profileName", "profile_name", "pushName"] },
    input: z.object({
      id,
      name: trimmedText(25).min(1, "must not be empty"),
    }),
    output: z.object({ name: z.string() }),
  }),
  setProfileStatus: route({
    http: "POST /api/v1/instances/:id/profile/status",
    role: "admin",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Change the text that others see below the name; empty removes it",
    message: "Status text changed",
    aliases: { text: ["status", "about"] },
    input: z.object({ id, text: trimmedText(139) }),
    output: z.object({ about: z.string().nullable(), status: z.string().nullable() }),
  }),
  getBusiness: route({
    http: "GET /api/v1/instances/:id/profile/business",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Get what a business shows of itself; without a number, that of the paired phone",
    message: "Business",
    aliases: whoseAliases,
    input: z.object({ id, number: whose }),
    output: business,
  }),
  getCatalog: route({
    http: "GET /api/v1/instances/:id/catalog",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "List the products of a business; without a number, those of the paired phone",
    message: "Catalogue",
    aliases: whoseAliases,
    input: z.object({
      id,
      number: whose,
      limit: z.coerce.number().int().min(1).max(100).default(50),
      cursor: boundedText(2048).optional().describe("`next_cursor` of the previous page."),
    }),
    output: z.array(product),
    beside: z.object({ pagination }),
  }),
  setPrivacy: route({
    http: "POST /api/v1/instances/:id/profile/privacy",
    requiresBody: true,
    role: "admin",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Change who may see or do what: the privacy settings of the paired phone",
    description:
      "`contact_blacklist`: all contacts except those that the phone lists. The settings are changed in order. If the network " +
      "refuses one, `details.applied` names those before it.",
    message: "Privacy settings changed",
    aliases: {
      last: ["last_seen", "lastSeen"],
      readreceipts: ["read_receipts", "readReceipts"],
      groupadd: ["group_add", "groupAdd"],
      calladd: ["call_add", "callAdd"],
    },
    example: { last: "contacts", groupadd: "contacts" },
    input: z
      .object({ id, ...privacySettings })
      .refine(
        ({ id: _, ...settings }) => Object.values(settings).some((value) => value !== undefined),
        rule(`one of ${PRIVACY_NAMES} is required`, "one_of_required", { fields: PRIVACY_NAMES }),
      ),
    output: z.object({
      privacy: z.record(z.string(), z.string()).describe("The settings that were changed."),
    }),
  }),
  setProfilePhoto: route({
    http: "POST /api/v1/instances/:id/profile/photo",
    role: "admin",
    requiresBody: true,
    errors: [...SESSION_ERRORS, "MEDIA_DOWNLOAD_FAILED", "STORAGE_FULL"],
    access,
    tag,
    summary: "Change the picture that others see; null removes it",
    description:
      "Send an address, base64 or a part of a form. The gateway cuts the middle of the picture to a square.",
    message: "Photo changed",
    upload: "file",
    bodyLimitBytes: PICTURE_BODY_BYTES,
    aliases: { base64: ["photo", "picture", "image", "link", "media", "data"] },
    input: z.object({
      id,
      url: pictureText.nullable().optional().describe("Address of the picture; null removes it."),
      base64: pictureText
        .nullable()
        .optional()
        .describe("The picture in base64, or a data URI or an address; null removes it."),
      file: z
        .union([
          z.custom<UploadedFile>(
            isUpload,
            rule("must be a file or text", "wrong_type", { expected: "file, text" }),
          ),
          pictureText,
        ])
        .optional()
        .describe("The picture as a part of a multipart/form-data body."),
    }),
    output: z.object({ picture_url: z.string().nullable() }),
  }),
};
