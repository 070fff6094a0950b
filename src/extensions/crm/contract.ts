import { z } from "zod";
import { assumed_country, confirm_assumed, numberWarning } from "../../core/contacts/contract.ts";
import { storedMessage } from "../../core/messages/contract.ts";
import { issueReason } from "../../platform/http/reason-schemas.ts";
import {
  isoTime,
  pageInput,
  pagination,
  removedRow,
  route,
  rowId,
  searchAliases,
  searchInput,
  type UploadedFile,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, coercedText, trimmedText } from "../../platform/text/bounded-text.ts";

const phone = z
  .union([trimmedText(200).min(1), z.number().int().positive().transform(String)])
  .describe("Digits with country and area code.");
const label = trimmedText(64).min(1);
export const MAX_TAGS = 100;
const tags = z.array(label).max(MAX_TAGS).describe("At most 100 tags of up to 64 characters.");

export const MAX_FIELDS = 100;
const fieldName = trimmedText(64)
  .min(1)
  .refine((name) => name !== "__proto__", rule("is not a valid name of a field", "wrong_format"));
const fieldValue = z.union([boundedText(2000), z.number(), z.boolean(), z.null()]);
const fieldValues = named(
  "CustomFieldValues",
  z
    .record(fieldName, fieldValue)
    .refine(
      (fields) => Object.keys(fields).length <= MAX_FIELDS,
      rule(`has more than ${MAX_FIELDS} fields`, "too_many", { max: MAX_FIELDS }),
    ),
);

/** Rows of one import. */
export const MAX_IMPORTED = 10_000;
/** Invalid rows that the response of an import lists. */
export const MAX_INVALID = 100;
/** The prefix of a custom field's column name. */
export const CUSTOM_FIELD_COLUMN = "custom_fields.";

const lead = named(
  "Lead",
  z.object({
    id: z.number().int(),
    phone: z.string().nullable(),
    lid: z.string().nullable().describe("The network's id of a person whose phone is not known."),
    name: z.string().nullable(),
    email: z.string().nullable(),
    status: z.string(),
    kanban_status: z.string().nullable(),
    tags: z.array(z.string()),
    custom_fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    opted_out_at: isoTime.nullable(),
    created_at: isoTime,
    updated_at: isoTime,
  }),
);

const note = named(
  "LeadNote",
  z.object({
    id: z.number().int(),
    lead_id: z.number().int(),
    user_id: z.number().int().nullable(),
    note: z.string(),
    created_at: isoTime,
  }),
);

const labelCount = named("LabelCount", z.object({ name: z.string(), count: z.number().int() }));

const leadFields = {
  phone: phone.nullable().optional(),
  name: trimmedText(200).nullable().optional(),
  email: boundedText(254).check(z.email()).nullable().optional(),
  status: label.optional(),
  kanban_status: label.nullable().optional().describe("The column of the lead on the board."),
  tags: tags.optional(),
  custom_fields: fieldValues.optional(),
  opted_out: z.boolean().optional().describe("true: campaigns no longer send to this phone."),
};
/** The lead fields of a CSV row. */
export const leadRow = z.object(leadFields);
const leadInput = { ...leadFields, country_code: coercedText(60).optional() };
const leadAliases = {
  phone: ["number", "whatsapp"],
  country_code: ["countryCode", "country"],
  kanban_status: ["kanbanStatus", "stage"],
  custom_fields: ["customFields"],
};

const fieldType = z.enum(["text", "number", "boolean", "date", "select"]);
const options = z.array(label).max(100);
const customField = named(
  "CustomField",
  z.object({
    id: z.number().int(),
    name: z.string(),
    type: fieldType,
    options: z.array(z.string()),
    created_at: isoTime,
  }),
);

const WHOLE_ACCOUNT = { access: "account", tag: "CRM", feature: "crm" } as const;
const TAG = { ...WHOLE_ACCOUNT, keepsToInstances: true } as const;

const leadFilter = {
  q: searchInput.q,
  tag: label.optional(),
  status: label.optional(),
  kanban_status: label.optional(),
  opted_out: boundedText(8).pipe(z.stringbool()).optional(),
};

export const crmContract = {
  listLeads: route({
    ...TAG,
    http: "GET /api/leads",
    heavy: "search",
    summary: "List leads, newest first",
    message: "Leads",
    aliases: searchAliases,
    input: z.object({
      ...pageInput,
      ...leadFilter,
    }),
    output: z.array(lead),
    beside: z.object({ pagination }),
  }),

  listLeadLabels: route({
    ...TAG,
    http: "GET /api/leads/labels",
    heavy: true,
    summary: "List the stages, statuses and tags in use, with the number of leads of each",
    message: "Labels",
    input: z.object({}),
    output: z.object({
      stages: z.array(labelCount).describe("Values of `kanban_status`, the most used first; at most 200."),
      statuses: z.array(labelCount),
      tags: z.array(labelCount),
    }),
  }),

  exportLeads: route({
    ...TAG,
    http: "GET /api/leads/export",
    acts: { everything: true },
    role: "admin",
    heavy: true,
    summary: "Export leads as CSV, newest first, with a column for each custom field",
    description:
      "Accepts the filters of the list. Cells that a spreadsheet would run as a formula begin with `'`. You can import the file with `POST /api/leads/import`.",
    aliases: searchAliases,
    input: z.object(leadFilter),
    output: z.never(),
    raw: "text/csv",
    cost: 5,
  }),

  importLeads: route({
    ...WHOLE_ACCOUNT,
    http: "POST /api/leads/import",
    heavy: true,
    errors: ["CONFLICT"],
    summary: "Create and change leads from a CSV file",
    description: `Accepts up to ${MAX_IMPORTED} rows, in a form's \`file\` or as the whole body with the type \`text/csv\`. The first line names the columns: \`phone\` (or \`number\`, \`whatsapp\`), \`name\`, \`email\`, \`status\`, \`kanban_status\`, \`tags\` (separated by \`;\`, in quotes if a tag has one), \`opted_out\`, and \`custom_fields.\` followed by a name; others are ignored, and listed in \`ignored_columns\`. A row updates the lead with its phone, in any format, or, in an export, its \`id\` and \`created_at\`; an unknown phone creates a lead. A row whose phone and \`id\` name two leads is invalid. An empty cell changes nothing, tags are added, and \`opted_out\` accepts only \`true\`. Importing the same file again changes nothing, and the import ends when its client leaves. An invalid row is listed in \`invalid\` with its line and the reason, and a number without a country code in \`warnings\`; all others are imported. Repeat the request with \`confirm_assumed\` to import the rows of \`warnings\` too; beside \`text/csv\` it is read from the query.`,
    message: "Leads imported",
    input: z.object({
      file: z.custom<UploadedFile>(isUpload, rule("must be a CSV file", "wrong_type", { expected: "file" })),
      confirm_assumed,
    }),
    aliases: { confirm_assumed: ["confirmAssumed"] },
    upload: "file",
    uploadTypes: ["text/csv"],
    bodyLimitBytes: 16_777_216,
    cost: 5,
    output: z.object({
      created: z.number().int(),
      updated: z.number().int(),
      unchanged: z.number().int(),
      invalid: z
        .array(
          z.object({
            line: z.number().int().describe("Line of the file; the first line is 1."),
            value: z.string(),
            field: z.string().nullable().describe("null: the whole row."),
            ...issueReason,
            reason: z.string(),
          }),
        )
        .describe(`The first ${MAX_INVALID}.`),
      invalid_count: z.number().int(),
      warnings: z.array(numberWarning).describe(`The first ${MAX_INVALID}.`),
      warning_count: z.number().int(),
      assumed_country,
      ignored_columns: z.array(z.string()),
    }),
  }),

  createLead: route({
    ...TAG,
    http: "POST /api/leads",
    requiresBody: true,
    errors: ["CONFLICT"],
    summary: "Create a lead; a phone belongs to one lead of the account",
    message: "Lead created",
    example: { name: "Bia Souza", phone: "5511999990004" },
    input: z.object(leadInput),
    aliases: leadAliases,
    output: lead,
  }),

  updateLead: route({
    ...TAG,
    http: "PATCH /api/leads/:id",
    errors: ["CONFLICT"],
    summary: "Change a lead; `tags` replaces all tags, `custom_fields` merges, and null removes a field",
    message: "Lead updated",
    example: { name: "Bia Souza" },
    input: z.object({ id: rowId, ...leadInput }),
    aliases: leadAliases,
    output: lead,
  }),

  deleteLead: route({
    ...TAG,
    http: "DELETE /api/leads/:id",
    role: "admin",
    acts: { irreversible: true },
    summary: "Remove a lead and its notes; its messages and its opt-out stay",
    message: "Lead removed",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),

  getLeadDetails: route({
    ...TAG,
    http: "GET /api/leads/:id/details",
    summary: "Get a lead with its notes, its conversations and the last messages",
    message: "Lead",
    input: z.object({ id: rowId }),
    output: lead.extend({
      notes: z.array(note),
      conversations: z.array(
        z.object({
          id: z.number().int(),
          instance_id: z.number().int(),
          jid: z.string(),
          phone: z.string().nullable(),
          title: z.string().nullable(),
        }),
      ),
      messages: z
        .array(storedMessage.extend({ instance_id: z.number().int() }))
        .describe("The last 20, newest first."),
    }),
  }),

  addLeadNote: route({
    ...TAG,
    http: "POST /api/leads/:id/notes",
    summary: "Add an internal note to a lead",
    message: "Note added",
    input: z.object({
      id: rowId,
      note: trimmedText(10_000).min(1, "must not be empty"),
    }),
    aliases: { note: ["text", "content"] },
    output: note,
  }),

  deleteLeadNote: route({
    ...TAG,
    http: "DELETE /api/leads/:id/notes/:noteId",
    summary: "Delete an internal note of a lead",
    message: "Note deleted",
    input: z.object({ id: rowId, noteId: rowId }),
    output: removedRow,
  }),

  addLeadTags: route({
    ...TAG,
    http: "POST /api/leads/:id/tags",
    requiresBody: true,
    summary: "Add tags to a lead",
    message: "Tags added",
    example: { tags: ["customer"] },
    input: z.object({ id: rowId, tags: tags.optional(), tag: label.optional() }),
    output: z.object({ id: z.number().int(), tags: z.array(z.string()) }),
  }),

  setLeadFields: route({
    ...TAG,
    http: "PUT /api/leads/:id/custom-fields",
    summary: "Set custom fields of a lead; null removes a field, omitted fields stay unchanged",
    description:
      "Send the values in `fields` or as fields of the body. A declared field accepts only values of its type; any other field accepts a text, number or boolean.",
    message: "Custom fields set",
    example: { fields: { city: "Recife" } },
    input: z.looseObject({ id: rowId, fields: fieldValues.optional() }),
    aliases: { fields: ["custom_fields", "customFields"] },
    output: z.object({ id: z.number().int(), custom_fields: lead.shape.custom_fields }),
  }),

  listCustomFields: route({
    ...TAG,
    http: "GET /api/custom-fields",
    summary: "List the declared custom fields, newest first",
    message: "Custom fields",
    aliases: searchAliases,
    input: z.object(searchInput),
    output: z.array(customField),
    beside: z.object({ pagination }),
  }),

  createCustomField: route({
    ...TAG,
    http: "POST /api/custom-fields",
    errors: ["CONFLICT"],
    role: "admin",
    summary: "Declare a custom field",
    message: "Custom field declared",
    example: { name: "city" },
    input: z.object({
      name: fieldName,
      type: fieldType.default("text"),
      options: options.default([]).describe("The options of a `select`."),
    }),
    output: customField,
  }),

  updateCustomField: route({
    ...TAG,
    http: "PATCH /api/custom-fields/:id",
    errors: ["CONFLICT"],
    role: "admin",
    summary: "Rename a custom field, with its values, or change its options",
    message: "Custom field updated",
    example: { options: [] },
    input: z.object({ id: rowId, name: fieldName.optional(), options: options.optional() }),
    output: customField,
  }),

  deleteCustomField: route({
    ...TAG,
    http: "DELETE /api/custom-fields/:id",
    role: "admin",
    summary: "Remove the declaration of a custom field; the values of leads stay",
    message: "Custom field removed",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),
};

/** Field values in `fields`, or at the top level of the body. */
export const topLevelFields = fieldValues;

function isUpload(value: unknown): boolean {
  return typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
}
