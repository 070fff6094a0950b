import { z } from "zod";
import { digitsOrJid } from "../../core/contacts/contract.ts";
import {
  isoTime,
  pageInput,
  pagination,
  refuseAll,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";

const scope = named(
  "PrivacyScope",
  z.enum(["account", "messages", "leads", "conversations", "all", "person"]),
);
const status = z.enum(["processing", "completed", "failed"]);
const affected = z.record(z.string(), z.number()).describe("Number of changed rows of each table.");

/** The lists of an export, each with the rows of one table. */
export const EXPORTED_LISTS = [
  "users",
  "instances",
  "conversations",
  "messages",
  "leads",
  "consentRecords",
  "contacts",
  "groups",
  "labels",
  "labelled",
  "statuses",
  "statusViews",
  "leadNotes",
  "customFields",
  "quickReplies",
  "campaigns",
  "campaignRecipients",
  "webhooks",
  "integrations",
  "integrationLinks",
  "dataRequests",
] as const;

const row = z.record(z.string(), z.unknown());

const exportDocument = z.object({
  success: z.literal(true),
  message: z.string(),
  requestId: z.number().int(),
  data: z.object({
    exportedAt: z.iso.datetime(),
    account: row.nullable(),
    ...(Object.fromEntries(EXPORTED_LISTS.map((name) => [name, z.array(row)])) as Record<
      (typeof EXPORTED_LISTS)[number],
      z.ZodArray<typeof row>
    >),
  }),
});

const dataRequest = named(
  "DataRequest",
  z.object({
    id: z.number().int(),
    request_type: z.enum(["export", "anonymize"]),
    scope: scope.nullable(),
    status,
    requested_by: z
      .number()
      .nullable()
      .describe("The user who made the request; null: repeated after a restore."),
    affected,
    due_at: isoTime,
    created_at: isoTime,
    processed_at: isoTime.nullable(),
  }),
);

const managedRequest = named(
  "ManagedDataRequest",
  dataRequest.extend({ account_id: z.number().int(), account_name: z.string() }),
);

const tag = "Privacy";

export const privacyContract = {
  exportData: route({
    http: "POST /api/data/export",
    acts: { everything: true },
    heavy: true,
    access: "account",
    role: "admin",
    tag,
    summary: "Export all data of the account as one JSON document",
    description:
      "`{success, message, requestId, data: {exportedAt, account, instances, conversations, messages, leads, consentRecords, ...}}`, streamed without a size limit. It contains no secrets. A response that ends before its last brace is incomplete.",
    input: z.object({}),
    output: exportDocument,
    bare: true,
    streamed: true,
  }),

  anonymizeData: route({
    http: "POST /api/data/anonymize",
    acts: { irreversible: true },
    access: "account",
    role: "admin",
    tag,
    summary: "Anonymise data of the account, or of one person, permanently",
    description:
      "Rows, counts and times stay; names, numbers, texts and files are removed. `messages` covers what was written, `conversations` also with whom, `leads` the people of the CRM and of campaigns, `account` the account's own texts and names, `all` everything, `person` everything about the person of `number` or `lead_id`. Pending sends and deliveries are cancelled first. Sign-ins, keys and paired sessions continue to work. The request is `completed` within 5 s, or continues as `processing`; see `GET /api/data/requests`.",
    message: "Data anonymised",
    errors: ["NOT_FOUND"],
    example: { scope: "leads" },
    input: z.object({
      scope,
      number: digitsOrJid.optional(),
      phone: digitsOrJid.optional(),
      jid: digitsOrJid.optional(),
      lead_id: rowId.optional(),
    }),
    aliases: { jid: ["lid"], lead_id: ["leadId"] },
    refuses: refuseAll(
      "does not narrow the scope. Name one person with `number` or `lead_id`, and the scope `person`",
      ..."person contact contact_id user user_id name email username chat chat_id conversation_id instance instance_id numbers ids".split(
        " ",
      ),
    ),
    output: z.object({
      requestId: z.number().int(),
      scope,
      status,
      affected,
      kept: z.array(z.string()).optional().describe("Of one person: what stays."),
    }),
  }),

  listDataRequests: route({
    http: "GET /api/data/requests",
    access: "account",
    tag,
    summary: "List the export and anonymisation requests of the account, newest first",
    message: "Data requests",
    input: z.object({ ...pageInput }),
    output: z.array(dataRequest),

    beside: z.object({ pagination }),
  }),

  listManagedDataRequests: route({
    http: "GET /api/admin/data-requests",
    access: "manager",
    tag: "Administration",
    summary: "List the export and anonymisation requests of all accounts, newest first",
    description: "A reseller sees its own and those of its customers.",
    message: "Data requests",
    aliases: searchAliases,
    input: z.object({
      ...searchInput,
      account_id: rowId.optional(),
      status: status.optional(),
      request_type: dataRequest.shape.request_type.optional(),
    }),
    output: z.array(managedRequest),
    beside: z.object({ pagination }),
  }),
};
