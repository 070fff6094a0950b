import { z } from "zod";
import { assumed_country, confirm_assumed, numberWarning } from "../../core/contacts/contract.ts";
import { issueReason, reasonParams, sendError } from "../../platform/http/reason-schemas.ts";
import {
  isoTime,
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
import { boundedText, fileText, timeZoneText, trimmedText } from "../../platform/text/bounded-text.ts";

const DAY_MS = 86_400_000;
/** Recipients of one request. */
export const MAX_RECIPIENTS = 50_000;
/** Rejected recipients that a response lists; all of them are counted. */
export const MAX_LISTED = 1_000;

const CAMPAIGN_STATUS = [
  "created",
  "scheduled",
  "queued",
  "running",
  "paused",
  "completed",
  "cancelled",
  "failed",
] as const;
const RECIPIENT_STATUS = [
  "pending",
  "queued",
  "sent",
  "delivered",
  "read",
  "failed",
  "cancelled",
  "skipped",
] as const;

/** Why a campaign that nobody has paused sends nothing. */
const WAITING_REASON = [
  "scheduled",
  "quiet_hours",
  "daily_limit",
  "delay",
  "reachout_timelock",
  "message_quota",
] as const;

export const TIMELINE_STEP = ["minute", "hour", "day"] as const;
/** Why a recipient would get no message. */
export const RECIPIENT_PROBLEM = ["invalid", "assumed", "duplicate", "opted_out", "no_consent"] as const;

const campaignStatus = named("CampaignStatus", z.enum(CAMPAIGN_STATUS));
const recipientStatus = named("RecipientStatus", z.enum(RECIPIENT_STATUS));

// Not coerced: null or an empty string would become 0, a campaign without pauses.
const numeric = z.union(
  [
    z.number(),
    boundedText(64)
      .regex(/^\s*\d+(\.\d+)?\s*$/)
      .transform(Number),
  ],
  "must be a number",
);
const delay = numeric.pipe(
  z.number().int().min(0, "is negative").max(DAY_MS, `is longer than ${DAY_MS} ms (a day)`),
);
const clock = boundedText(5).regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 22:00");

const quietHours = named(
  "QuietHours",
  z
    .object({
      start: clock,
      end: clock.describe("When the campaign continues. If `end` is before `start`, it is on the next day."),
      tz: timeZoneText(),
    })
    .refine(({ start, end }) => start !== end, rule("start and end are the same", "duplicate")),
);

const moment = boundedText(64).check(
  z.iso.datetime({ offset: true, error: "must be a moment such as 2026-11-20T12:00:00Z" }),
);

const mediaFields = named(
  "CampaignFile",
  z.object({
    url: fileText()
      .optional()
      .describe("Address of the file, fetched once when the campaign is saved; or a data URI."),
    base64: fileText().optional(),
    type: z.enum(["image", "video", "audio", "document", "sticker", "ptt"]).optional(),
    mime_type: boundedText(127).optional(),
    file_name: boundedText(255).optional(),
  }),
);

const mediaIn = z.union([
  mediaFields,
  fileText()
    .min(1)
    .transform((url): z.output<typeof mediaFields> => ({ url })),
]);

const upload = z
  .custom<UploadedFile>(isUpload, rule("must be a file", "wrong_type", { expected: "file" }))
  .optional();

const template = boundedText(65_536);

const SHARE = "must be above 0 and at most 1: 0.5 is half of them";

const campaignFields = {
  name: trimmedText(200).min(1, "must not be empty"),
  message_template: template.describe(
    "The text, with at most 50 different variables such as `{{name}}`. With `media` it is the caption.",
  ),
  media: mediaIn.nullable().describe("One file for every recipient. A plain text is read as its `url`."),
  file: upload.describe("The file as a part of a multipart/form-data body."),
  min_delay_ms: delay.describe("Shortest pause between two recipients, in milliseconds. Default: 3000."),
  max_delay_ms: delay.describe("Longest pause between two recipients, in milliseconds. Default: 9000."),
  scheduled_at: moment.nullable().describe("Takes effect at the start of the campaign."),
  quiet_hours: quietHours
    .nullable()
    .describe("The campaign sends nothing from `start` to `end` in this time zone."),
  daily_limit: numeric
    .pipe(z.number().int().min(1).max(1_000_000))
    .nullable()
    .describe("Most recipients per day, in the time zone of `quiet_hours`, otherwise of the account."),
  consent_purpose: trimmedText(64)
    .min(1)
    .nullable()
    .describe("Sends only to phones with a recorded consent to this purpose."),
  stop_on_error_rate: numeric
    .pipe(z.number(SHARE).gt(0, SHARE).max(1, SHARE))
    .nullable()
    .describe(
      "Share of failed recipients since the last start at which the campaign pauses; needs at least 10 recipients.",
    ),
};

const campaignAliases = {
  instance_id: ["instanceId", "instance"],
  message_template: ["template", "message", "text"],
  media: ["media_url", "mediaUrl"],
  min_delay_ms: ["minDelayMs", "min_delay"],
  max_delay_ms: ["maxDelayMs", "max_delay"],
  scheduled_at: ["scheduledAt", "schedule"],
  quiet_hours: ["quietHours"],
  daily_limit: ["dailyLimit"],
  consent_purpose: ["consentPurpose"],
  stop_on_error_rate: ["stopOnErrorRate"],
};

const waiting = named(
  "CampaignWaiting",
  z
    .object({ reason: z.enum(WAITING_REASON), until: isoTime })
    .nullable()
    .describe("Why the campaign sends nothing now although nobody has paused it, and when it goes on."),
);

const storedMedia = named(
  "CampaignMedia",
  z
    .object({
      type: z.string(),
      mime_type: z.string(),
      file_name: z.string().nullable(),
      size: z.number().int(),
      sha256: z.string().nullable(),
    })
    .nullable(),
);

export const campaign = named(
  "Campaign",
  z.object({
    id: z.number().int(),
    name: z.string(),
    instance_id: z.number().int(),
    status: campaignStatus,
    status_reason: z.string().nullable().describe("Why the campaign is paused or has failed."),
    waiting,
    message_template: z.string(),
    media: storedMedia,
    min_delay_ms: z.number().int(),
    max_delay_ms: z.number().int(),
    scheduled_at: isoTime.nullable(),
    quiet_hours: z.object({ start: z.string(), end: z.string(), tz: z.string() }).nullable(),
    daily_limit: z.number().int().nullable(),
    consent_purpose: z.string().nullable(),
    stop_on_error_rate: z.number().nullable(),
    started_at: isoTime.nullable(),
    completed_at: isoTime.nullable().describe("When it was completed, cancelled or failed."),
    archived_at: isoTime.nullable(),
    created_at: isoTime,
    updated_at: isoTime,
  }),
);

export const totals = named(
  "CampaignTotals",
  z
    .object({
      total: z.number().int(),
      pending: z.number().int(),
      queued: z.number().int(),
      sent: z.number().int(),
      delivered: z.number().int(),
      read: z.number().int(),
      failed: z.number().int(),
      cancelled: z.number().int(),
      skipped: z.number().int(),
    })
    .describe(
      "`sent`, `delivered` and `read` are cumulative; total = pending + queued + sent + failed + cancelled + skipped.",
    ),
);

const listedCampaign = named(
  "ListedCampaign",
  campaign.extend({
    totals: totals
      .nullable()
      .describe(
        "As of the last event `campaign.progress`; null before the start. The campaign itself counts now.",
      ),
  }),
);

const recipient = named(
  "CampaignRecipient",
  z.object({
    id: z.number().int(),
    phone: z.string(),
    status: recipientStatus,
    reason: z
      .string()
      .nullable()
      .describe(
        "Why it was skipped, or failed; `duplicate`: the campaign writes to this person under another number.",
      ),
    error: sendError.nullable().describe("Of the message that failed."),
    message_id: z.string().nullable(),
    variables: z.record(z.string(), z.string()),
    planned_at: isoTime.nullable(),
    decided_at: isoTime.nullable(),
  }),
);

const warning = named(
  "TemplateWarning",
  z.object({
    variable: z.string(),
    missing: z
      .number()
      .describe("Number of waiting recipients for whom the variable is empty, of the first 20,000."),
    message: z.string(),
  }),
);

const status = named("CampaignState", z.object({ id: z.number().int(), status: campaignStatus }));

const SHARED = { access: "account", keepsToInstances: true, tag: "Campaigns", feature: "campaigns" } as const;

export const campaignsContract = {
  listCampaigns: route({
    ...SHARED,
    http: "GET /api/campaigns",
    heavy: "search",
    summary: "List the campaigns of the account, newest first",
    message: "Campaigns",
    aliases: searchAliases,
    input: z.object({
      ...searchInput,
      status: campaignStatus.optional(),
      instance_id: z.coerce.number().int().optional(),
      archived: boundedText(8)
        .pipe(z.stringbool())
        .optional()
        .describe("false: without archived campaigns; true: only archived campaigns."),
    }),
    output: z.array(listedCampaign),
    beside: z.object({ pagination }),
  }),

  createCampaign: route({
    ...SHARED,
    http: "POST /api/campaigns",
    errors: ["NOT_FOUND", "MEDIA_DOWNLOAD_FAILED", "STORAGE_FULL"],
    summary: "Create a campaign; add recipients and start it afterwards",
    message: "Campaign created",
    idempotent: true,
    example: { name: "Spring offer", instance_id: 1, message_template: "Hello" },
    input: z.object({
      ...campaignFields,
      instance_id: rowId,
      message_template: campaignFields.message_template.default(""),
      media: campaignFields.media.default(null),
      min_delay_ms: campaignFields.min_delay_ms.default(3_000),
      max_delay_ms: campaignFields.max_delay_ms.default(9_000),
      scheduled_at: campaignFields.scheduled_at.default(null),
      quiet_hours: campaignFields.quiet_hours.default(null),
      daily_limit: campaignFields.daily_limit.default(null),
      consent_purpose: campaignFields.consent_purpose.default(null),
      stop_on_error_rate: campaignFields.stop_on_error_rate.default(null),
    }),
    aliases: campaignAliases,
    upload: "file",
    output: campaign,
  }),

  getCampaign: route({
    ...SHARED,
    http: "GET /api/campaigns/:id",
    summary: "Get a campaign with its totals",
    message: "Campaign",
    input: z.object({ id: rowId }),
    output: campaign.extend({ totals }),
  }),

  updateCampaign: route({
    ...SHARED,
    http: "PATCH /api/campaigns/:id",
    errors: ["CAMPAIGN_STATE", "MEDIA_DOWNLOAD_FAILED", "STORAGE_FULL"],
    summary: "Change a created or paused campaign; null resets a setting",
    message: "Campaign updated",
    description: "With another `instance_id`, the remaining recipients get the message from that instance.",
    example: { name: "Spring offer" },
    input: z.object({
      ...z.object(campaignFields).partial().shape,
      id: rowId,
      instance_id: rowId.optional(),
    }),
    aliases: campaignAliases,
    upload: "file",
    output: campaign,
  }),

  addRecipients: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/recipients",
    heavy: true,
    requiresBody: true,
    errors: ["CAMPAIGN_STATE"],
    summary: "Add recipients: in the body, from leads, or as a CSV file",
    description:
      "Accepts up to 50,000 recipients per request. A recipient is `{phone, variables}` or a bare number. The CSV (a form's `file`, or the whole body as `text/csv`) names its columns in the first line; one is `phone`, `number` or `whatsapp`, the others become variables. The CSV report of another campaign gives its recipients and their variables. Invalid entries are listed in `invalid`, and numbers without a country code in `warnings`; all others are added. Repeat the request with `confirm_assumed` to add the numbers of `warnings` as their `suggestion`; beside `text/csv` it is read from the query. Phones that have opted out are added as `skipped`. A body has at most 32 MiB, as JSON also 1,000,000 values: 50,000 recipients with 16 variables each.",
    message: "Recipients added",
    idempotent: true,
    example: { recipients: [{ phone: "5511999990004", variables: { name: "Bia" } }] },
    input: z.object({
      id: rowId,
      recipients: z
        .array(z.unknown())
        .max(MAX_RECIPIENTS, `holds more than ${MAX_RECIPIENTS}`)
        .optional()
        .describe("`{phone, variables}`, or bare numbers."),
      numbers: z.array(z.unknown()).max(MAX_RECIPIENTS, `holds more than ${MAX_RECIPIENTS}`).optional(),
      lead_ids: z.array(rowId).max(MAX_RECIPIENTS).optional(),
      tags: z.array(trimmedText(64).min(1)).max(100).optional().describe("Leads with any of these tags."),
      file: upload.describe("A CSV file."),
      confirm_assumed,
    }),
    aliases: {
      recipients: ["contacts"],
      numbers: ["phones"],
      lead_ids: ["leadIds"],
      confirm_assumed: ["confirmAssumed"],
    },
    upload: "file",
    uploadTypes: ["text/csv"],
    bodyLimitBytes: 33_554_432,
    bodyLimitValues: 1_000_000,
    output: z.object({
      inserted: z.number(),
      duplicates: z.number(),
      skipped: z.number().int().describe("How many of the inserted recipients get no message."),
      invalid: z
        .array(z.object({ value: z.string(), ...issueReason, reason: z.string() }))
        .describe(`The first ${MAX_LISTED}.`),
      invalid_count: z.number().int(),
      warnings: z.array(numberWarning).describe(`The first ${MAX_LISTED}.`),
      warning_count: z.number().int(),
      assumed_country,
      total: z.number().int().describe("Number of recipients of the campaign after this request."),
    }),
  }),

  checkRecipients: route({
    ...SHARED,
    http: "POST /api/campaigns/check-recipients",
    errors: ["NOT_FOUND"],
    heavy: true,
    requiresBody: true,
    summary: "Check recipients before a campaign has them: unreadable, repeated, opted out; stores nothing",
    description:
      "Reads recipients like `POST /api/campaigns/:id/recipients`. `problems` names each by its position in the request, `recipients` before `lead_ids`.",
    message: "Recipients checked",
    example: { recipients: ["5511999990004"] },
    input: z.object({
      recipients: z
        .array(z.unknown())
        .max(MAX_RECIPIENTS, `holds more than ${MAX_RECIPIENTS}`)
        .optional()
        .describe("`{phone, variables}`, or bare numbers."),
      lead_ids: z.array(rowId).max(MAX_RECIPIENTS).optional(),
      consent_purpose: campaignFields.consent_purpose.optional(),
      instance_id: rowId
        .optional()
        .describe("The instance that will send, whose country counts for numbers without a country code."),
      confirm_assumed,
    }),
    aliases: {
      recipients: ["contacts", "numbers"],
      lead_ids: ["leadIds"],
      instance_id: ["instanceId"],
      confirm_assumed: ["confirmAssumed"],
      consent_purpose: ["consentPurpose"],
    },
    bodyLimitBytes: 33_554_432,
    bodyLimitValues: 1_000_000,
    output: z.object({
      total: z.number().int(),
      ready: z.number().int().describe("How many would get the message."),
      assumed_country,
      counts: z.object({
        invalid: z.number().int(),
        assumed: z.number().int().describe("Numbers without a country code."),
        duplicate: z.number().int(),
        opted_out: z.number().int(),
        no_consent: z.number().int(),
      }),
      problems: z
        .array(
          z.object({
            index: z.number().int().describe("Position in the request, from 0."),
            value: z.string(),
            problem: z.enum(RECIPIENT_PROBLEM),
            reason: z
              .string()
              .nullable()
              .describe("Why an entry is unreadable, or what is assumed about it."),
            code: issueReason.code.nullable(),
            params: reasonParams,
            suggestion: z.string().nullable().describe("The digits that are assumed."),
          }),
        )
        .describe(`The first ${MAX_LISTED}.`),
    }),
  }),

  previewCampaign: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/preview",
    heavy: true,
    summary: "Preview the messages of recipients, and list variables that stay empty",
    message: "Preview",
    input: z.object({
      id: rowId,
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(20)
        .default(3)
        .describe("How many of the next recipients to show."),
      phone: boundedText(40).optional().describe("Id of the recipient to show instead."),
      variables: z
        .record(boundedText(64), z.unknown())
        .optional()
        .describe("Variables to use instead of a recipient's."),
    }),
    output: z.object({
      previews: z.array(
        z.object({
          phone: z.string().nullable(),
          text: z.string(),
          too_long: z
            .boolean()
            .describe(
              "true: the message would be longer than 65,536 characters, so the recipient is skipped. `text` has its first 1,000.",
            ),
        }),
      ),
      warnings: z.array(warning),
    }),
  }),

  startCampaign: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/start",
    heavy: true,
    errors: ["CAMPAIGN_STATE"],
    summary: "Start or resume a campaign; it is `scheduled` if its time is in the future",
    description:
      "With `dry_run: true` nothing changes: `status` is the present status, and `would_be` the status after a start.",
    message: "Campaign queued",
    idempotent: true,
    input: z.object({
      id: rowId,
      dry_run: z.boolean().default(false).describe("true: only report the result of a start."),
    }),
    aliases: { dry_run: ["dryRun"] },
    output: status.extend({
      queued: z.number().int().describe("Number of recipients that are pending."),
      warnings: z.array(warning),
      dry_run: z.boolean(),
      would_be: campaignStatus.optional().describe("Only in the response of a dry run."),
    }),
  }),

  pauseCampaign: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/pause",
    errors: ["CAMPAIGN_STATE"],
    summary: "Pause a campaign; no send starts after the response",
    message: "Campaign paused",
    idempotent: true,
    input: z.object({ id: rowId }),
    output: status,
  }),

  cancelCampaign: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/cancel",
    errors: ["CAMPAIGN_STATE"],
    summary: "Cancel a campaign permanently; `handed_over` lists messages that may still arrive",
    message: "Campaign cancelled",
    idempotent: true,
    input: z.object({ id: rowId }),
    output: status.extend({
      handed_over: z.array(z.object({ phone: z.string(), message_id: z.string() })),
    }),
  }),

  retryFailedRecipients: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/retry-failed",
    errors: ["CAMPAIGN_STATE"],
    summary: "Retry failed recipients, except those whom the message may have reached",
    description:
      "A completed campaign continues immediately and counts against the plan's `max_campaigns`; a paused one continues when you start it. Recipients whose send failed with `UNKNOWN_OUTCOME`, or was not confirmed, stay failed. The file of a completed campaign is stored for 7 days; after that a retry returns `CAMPAIGN_STATE`. A cancelled campaign, and one whose instance was removed, cannot be retried.",
    message: "Failed recipients queued again",
    idempotent: true,
    input: z.object({ id: rowId }),
    output: status.extend({
      retried: z.number(),
      left_out: z.number().describe("Number of failed recipients whom the message may have reached."),
    }),
  }),

  archiveCampaign: route({
    ...SHARED,
    http: "POST /api/campaigns/:id/archive",
    errors: ["CAMPAIGN_STATE"],
    summary: "Archive an ended campaign, so that lists can omit it; `archived: false` restores it",
    message: "Campaign archived",
    input: z.object({ id: rowId, archived: z.boolean().default(true) }),
    output: campaign,
  }),

  deleteCampaign: route({
    ...SHARED,
    http: "DELETE /api/campaigns/:id",
    role: "admin",
    acts: { irreversible: true },
    errors: ["CAMPAIGN_STATE"],
    summary: "Delete a campaign with its recipients and its report; the messages it sent stay in their chats",
    description:
      "A campaign that is scheduled, queued, running or paused by the gateway returns 409 `CAMPAIGN_STATE`: pause or cancel it first.",
    message: "Campaign deleted",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),

  getCampaignReport: route({
    ...SHARED,
    http: "GET /api/campaigns/:id/report",
    acts: { everything: ["format=csv"] },
    heavy: true,
    summary: "Get the report of a campaign: totals and recipients; `format=csv` streams all recipients",
    message: "Report",
    aliases: searchAliases,
    input: z.object({
      ...searchInput,
      id: rowId,
      status: recipientStatus.optional(),
      format: z.enum(["json", "csv"]).default("json"),
    }),
    output: z.object({ campaign, totals, recipients: z.array(recipient) }),
    beside: z.object({ pagination }),
    raw: "text/csv",
  }),

  getCampaignTimeline: route({
    ...SHARED,
    http: "GET /api/campaigns/:id/timeline",
    heavy: true,
    summary: "Get the outcomes of a campaign over time, and why messages failed or were skipped",
    description:
      "A point counts the messages whose outcome was known in its minute, hour or day, by their status now. `sent`, `delivered` and `read` are cumulative, as in the totals.",
    message: "Timeline",
    input: z.object({ id: rowId }),
    output: z.object({
      step: z.enum(TIMELINE_STEP).describe("The length of a point, so that there are at most about 120."),
      points: z.array(
        z.object({
          at: isoTime.describe("The beginning of the point."),
          sent: z.number().int(),
          delivered: z.number().int(),
          read: z.number().int(),
          failed: z.number().int(),
        }),
      ),
      reasons: z.array(
        z.object({
          status: z.enum(["failed", "skipped"]),
          reason: z.string().nullable(),
          count: z.number().int(),
        }),
      ),
    }),
  }),
};

function isUpload(value: unknown): boolean {
  return typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
}
