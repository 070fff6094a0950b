import { z } from "zod";
import { isoTime, pageInput, pagination, route } from "../../platform/http/route.ts";

const scope = z.enum(["account", "messages", "leads", "conversations", "all"]);
const status = z.enum(["processing", "completed", "failed"]);
const affected = z.record(z.string(), z.number()).describe("Rows that were changed, by table.");

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
  requestId: z.number(),
  data: z.object({
    exportedAt: z.iso.datetime(),
    account: row.nullable(),
    ...(Object.fromEntries(EXPORTED_LISTS.map((name) => [name, z.array(row)])) as Record<
      (typeof EXPORTED_LISTS)[number],
      z.ZodArray<typeof row>
    >),
  }),
});

const tag = "Privacy";

export const privacyContract = {
  exportData: route({
    http: "POST /api/data/export",
    access: "account",
    role: "admin",
    needsPassword: true,
    tag,
    summary: "Export everything that the account holds, as one JSON document",
    description:
      "`{success, message, requestId, data: {exportedAt, account, instances, conversations, messages, leads, consentRecords, ...}}`, streamed: it is as long as it needs to be. Secrets are not in it. An answer that ends before its last brace was interrupted.",
    input: z.object({}),
    output: exportDocument,
    bare: true,
    streamed: true,
  }),

  anonymizeData: route({
    http: "POST /api/data/anonymize",
    access: "account",
    role: "admin",
    needsPassword: true,
    tag,
    summary: "Anonymise data of the account, for good",
    description:
      "Rows, their numbers and their times stay; names, numbers, texts and files go. `messages` is what was written, `conversations` that and with whom, `leads` the people of the CRM and of campaigns, `account` the account's own words and names, `all` everything. What waits to be sent or delivered is cancelled first. Sign-in, keys and paired sessions go on working. Within 5 s it is `completed`, or goes on as `processing`; see `GET /api/data/requests`.",
    message: "Data anonymised",
    input: z.object({ scope }),
    output: z.object({ requestId: z.number(), scope, status, affected }),
  }),

  listDataRequests: route({
    http: "GET /api/data/requests",
    access: "account",
    tag,
    summary: "List what was asked about the data of the account, newest first",
    message: "Data requests",
    input: z.object({ ...pageInput }),
    output: z.array(
      z.object({
        id: z.number(),
        request_type: z.enum(["export", "anonymize"]),
        scope: scope.nullable(),
        status,
        requested_by: z.number().nullable().describe("The user; null: done again after a restore."),
        affected,
        due_at: isoTime,
        created_at: isoTime,
        processed_at: isoTime.nullable(),
      }),
    ),
    beside: z.object({ pagination }),
  }),
};
