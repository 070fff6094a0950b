import { z } from "zod";
import { deliveryFailure, deliveryReason, reasonParams } from "../../platform/http/reason-schemas.ts";
import {
  isoTime,
  pagination,
  type RefusedFields,
  refuseAll,
  removedRow,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, trimmedText, unionErrorMessage } from "../../platform/text/bounded-text.ts";
import {
  DEFAULT_EVENTS,
  EVENT_GROUPS,
  EVENT_NAMES,
  instanceId,
  listedEvent,
  OPERATIONAL_EVENTS,
  readTime,
  refuseEventName,
} from "../events/contract.ts";

/** The formats in which a webhook can receive events; the last three belong to other gateways. */
const WEBHOOK_FORMATS = ["native", "cloudevents", "evolution", "uazapi", "waha"] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const httpUrl = trimmedText(2048).refine(
  isHttpUrl,
  rule("must be an http or https address", "not_a_url"),
);

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}

const WEBHOOK_SCHEMES = ["http:", "https:", "nats:", "tls:", "amqp:", "amqps:"];

/** The destination of an address reads the rest of it. */
export const webhookUrl = trimmedText(2048).refine(
  (text) => URL.canParse(text) && WEBHOOK_SCHEMES.includes(new URL(text).protocol),
  rule("must be an address that begins with https, http, nats, tls, amqp or amqps", "not_a_url"),
);

const filterNames = [...EVENT_GROUPS, ...EVENT_NAMES] as const;

export const eventFilter = named(
  "EventFilter",
  z
    .array(z.enum(filterNames, { error: ({ input }) => refuseEventName(input, filterNames) }))
    .max(60)
    .describe(
      "Names, `message.*`, `instance.*`, `webhook.*` or `*` (the 14 names); empty: messages and connections.",
    ),
);

/** Headers that the gateway sets itself, or that apply to one connection only. */
const RESERVED_HEADER =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|content-.*|user-agent|x-waygate-.*|webhook-.*|x-webhook-(hmac|hmac-algorithm|request-id|timestamp)|__proto__)$/i;

const customHeaders = z
  .record(
    boundedText(100)
      .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, "is not the name of a header")
      .refine(
        (name) => !RESERVED_HEADER.test(name),
        rule("is a header that the gateway sets itself", "not_allowed_here"),
      ),
    boundedText(4096).regex(/^[\t\x20-\x7e]*$/, "may contain only visible ASCII characters"),
  )
  .refine(
    (headers) => Object.keys(headers).length <= 20,
    rule("has more than 20 headers", "too_many", { max: 20 }),
  )
  .describe(
    "Headers of every delivery. A value that you send back masked stays unchanged. If the origin of `url` changes, send all values again.",
  );

/** The masked form of a secret, which leaves the stored secret unchanged. */
export function isMaskedSecret(text: string): boolean {
  return /^(whsec_)?\*{4}[\x21-\x7e]{4}$/.test(text);
}

const secretText = boundedText(256).regex(/^[\x21-\x7e]+$/, "must be visible ASCII");
const SHORTEST_SECRET = 16;
const tooShort = rule("must be 16 characters or more", "too_short", { min: SHORTEST_SECRET });

const newSecret = secretText.refine((text) => text.length >= SHORTEST_SECRET, tooShort);

const changedSecret = secretText.refine(
  (text) => text.length >= SHORTEST_SECRET || isMaskedSecret(text),
  tooShort,
);

/** The names of event tags in another gateway. */
const PEER_TAGS = { wasSentByApi: "sent_by_api", fromMeYes: "from_me", isGroupYes: "groups" } as const;
const eventTag = named(
  "EventTag",
  z.union(
    [
      z.enum(["sent_by_api", "from_me", "groups"]),
      z.enum(["wasSentByApi", "fromMeYes", "isGroupYes"]).transform((alias) => PEER_TAGS[alias]),
    ],
    unionErrorMessage("must be sent_by_api, from_me or groups"),
  ),
);

/** Maximum attempts of one delivery. */
export const MAX_ATTEMPTS = 20;

const webhookFields = {
  name: trimmedText(100).min(1),
  url: webhookUrl.describe("`https://...`, or of a broker: see docs/guides/destinations.md."),
  events: eventFilter,
  is_active: z.boolean(),
  retry_enabled: z.boolean().describe("false: only one attempt."),
  max_attempts: z
    .number()
    .int()
    .min(1)
    .max(MAX_ATTEMPTS)
    .describe("Number of attempts, including the first."),
  secret: changedSecret,
  headers: customHeaders,
  exclude: z
    .array(eventTag)
    .max(6)
    .describe("Skips events of messages sent by the API, of own messages, or of groups."),
  ordering: z
    .enum(["chat", "strict", "none"])
    .describe(
      "`chat`: in order per chat, but an event that failed three times no longer blocks later ones. `strict`: one at a time, a failing event blocks all later ones. `none`: no order.",
    ),
};

/** The format of bodies, for receivers that were written for other gateways. */
const shape = {
  format: z
    .enum(WEBHOOK_FORMATS)
    .optional()
    .describe(
      "Format of the bodies: Waygate's own, CloudEvents 1.0, or that of another gateway; see docs/start/migration.md.",
    ),
  format_token: boundedText(256)
    .regex(/^[\x21-\x7e]+$/, "must be visible ASCII")
    .nullish()
    .describe(
      "Key inside the body, if the format has one; null: none. A masked value stays unchanged. If the origin of `url` changes, send it again.",
    ),
};

/** Rotates a secret while deliveries continue. */
const rotation = {
  rotate_secret: z.boolean().optional().describe("true: the gateway generates a new secret and returns it."),
  overlap_seconds: z
    .number()
    .int()
    .min(0)
    .max(604_800)
    .default(86_400)
    .describe("How long the old secret also signs after a change. Only one old secret is valid."),
};

const webhookAliases = {
  url: ["webhook_url", "webhookUrl", "webhook.url"],
  is_active: ["enabled", "active", "isActive", "webhook.enabled"],
  retry_enabled: ["retryEnabled"],
  max_attempts: ["maxAttempts"],
  events: ["webhook.events"],
  exclude: ["excludeMessages"],
  format_token: ["formatToken"],
};

const EVENT_IN_URL =
  "is not supported: the event is named in the body and in X-Waygate-Event, not in the address";
const FILE_IN_BODY = "is not supported: a delivery has the address of a file in media.url, not the file";
const HEADERS_ELSEWHERE = "is not supported here: set headers with PATCH webhooks/:webhookId";

/** What the webhooks of other gateways have, and what would change the deliveries if it was ignored. */
export const REFUSED_WEBHOOK_FIELDS: RefusedFields = {
  ...refuseAll(
    EVENT_IN_URL,
    "webhook.byEvents",
    "byEvents",
    "webhookByEvents",
    "webhook_by_events",
    "addUrlEvents",
    "addUrlTypesMessages",
  ),
  ...refuseAll(FILE_IN_BODY, "webhook.base64", "base64", "webhookBase64", "webhook_base64"),
  ...refuseAll(HEADERS_ELSEWHERE, "webhook.headers"),
};

export const webhook = named(
  "Webhook",
  z.object({
    id: z.number().int(),
    instance_id: z.number().int().nullable(),
    name: z.string(),
    url: z.string(),
    is_default: z.boolean(),
    is_active: z.boolean(),
    events: z.array(z.string()),
    retry_enabled: z.boolean(),
    max_attempts: z.number().int(),
    ordering: z.enum(["chat", "strict", "none"]),
    exclude: z.array(z.string()),
    headers: z.record(z.string(), z.string()).describe("Values are masked."),
    format: z.enum(WEBHOOK_FORMATS),
    format_token: z.string().nullable().describe("Masked."),
    secret: z.string().describe("In full at creation and rotation, otherwise masked."),
    created_at: isoTime,
    updated_at: isoTime,
    last_delivery_at: isoTime.nullable(),
    last_status: z.number().int().nullable(),
    last_error_class: z
      .string()
      .nullable()
      .describe(
        "Why the last attempt failed, such as `dns`, `rejected` (by a broker) or `status`; null: it did not.",
      ),
    disabled_reason: z.string().nullable(),
    disabled_error: deliveryFailure.nullable(),
    failing_since: isoTime.nullable().describe("Time of the first failed attempt since the last success."),
    previous_secret_until: isoTime
      .nullable()
      .describe(
        "Until this time deliveries also carry a signature with the previous secret; null: no longer.",
      ),
  }),
);

const attemptFigures = {
  succeeded: z.number().int(),
  failed: z.number().int(),
  median_ms: z.number().nullable().describe("Median duration of an attempt; null without attempts."),
  p95_ms: z.number().nullable().describe("95 of 100 attempts take at most this long."),
};

const deliveryLog = named(
  "DeliveryLog",
  z.object({
    id: z.number().int(),
    event_id: z.string(),
    webhook_event_id: z.number().int().nullable(),
    webhook_id: z.number().int(),
    webhook_name: z.string(),
    instance_id: z.number().int(),
    event: z.string(),
    url: z.string(),
    status_code: z.number().int().nullable(),
    success: z.boolean(),
    attempt: z.number().int(),
    trigger: z.enum(["auto", "manual", "test"]),
    error: z.string().nullable(),
    error_class: z.string().nullable(),
    reason: deliveryReason.nullable(),
    params: reasonParams,
    duration_ms: z.number(),
    request_payload: z.unknown(),
    response_body: z.string().nullable(),
    created_at: isoTime,
  }),
);

const figures = named(
  "WebhookFigures",
  z.object({
    since: isoTime.describe(
      "Start of the first step; later than the period if the limit of attempts is reached.",
    ),
    step_seconds: z.number().int(),
    is_cut: z
      .boolean()
      .describe(
        "Whether only the newest 50,000 attempts of the instance are counted, because the period has more.",
      ),
    total: z.object(attemptFigures),
    steps: z.array(z.object({ at: isoTime, ...attemptFigures })),
  }),
);

const testResult = named(
  "WebhookTest",
  z.object({
    success: z.boolean(),
    status_code: z.number().int().nullable(),
    duration_ms: z.number(),
    event_id: z.string(),
    log_id: z.number().int(),
    error: z.string().nullable(),
  }),
);

const ownReceiver = named(
  "OwnReceiver",
  z.object({
    webhook_id: z.number().int(),
    url: z.string(),
    secret: z.string().describe("In full: it signs nothing but the webhooks of this receiver."),
    received: z
      .array(
        z.object({
          id: z.number().int(),
          event_id: z.string(),
          event: z.string(),
          attempt: z.number().int(),
          received_at: isoTime,
          headers: z.record(z.string(), z.string()).describe("As the gateway has set them, in lower case."),
          body: z.string().nullable().describe("The exact text that was signed; null: its event is deleted."),
        }),
      )
      .describe("The last 20, newest first."),
  }),
);

const resent = named(
  "ResentEvent",
  z.object({
    event_id: z.string(),
    webhook_ids: z.array(z.number()).describe("Number of webhooks that get the event again."),
  }),
);

const TEST_REFUSAL =
  "If the receiver cannot be reached or does not respond with 2xx: 502 `SEND_FAILED`, with the same fields in `details`.";

const webhookId = rowId;

const since = readTime.describe("Events recorded at or after this time.");
const tag = "Webhooks";

const globalWebhook = named(
  "GlobalWebhook",
  z.object({
    enabled: z.boolean(),
    url: z.string(),
    events: z.array(z.string()),
    max_attempts: z.number().int(),
    format: z.enum(WEBHOOK_FORMATS),
    format_token: z.string().nullable().describe("Masked."),
    secret: z
      .string()
      .nullable()
      .describe("In full directly after its creation or change, otherwise masked."),
    last_delivery_at: isoTime.nullable(),
    last_status: z.number().int().nullable(),
    last_error_class: z.string().nullable(),
    disabled_reason: z.string().nullable(),
    disabled_error: deliveryFailure.nullable(),
  }),
);

const globalRoute = {
  access: "admin",
  tag,
  output: globalWebhook,
} as const;

const setGlobal = {
  ...globalRoute,
  summary: "Set the webhook that gets the events of all instances; an empty address disables it",
  message: "Global webhook saved",
  aliases: {
    url: ["webhook_url", "webhookUrl"],
    max_attempts: ["maxAttempts"],
    enabled: ["is_active"],
    format_token: ["formatToken"],
  },
  refuses: REFUSED_WEBHOOK_FIELDS,
  example: { url: "https://example.com/hook", enabled: true },
  input: z.object({
    enabled: z.boolean().optional().describe("Default: true if an address is given, otherwise unchanged."),
    url: z.union([z.literal(""), webhookUrl]).optional(),
    events: webhookFields.events.optional(),
    secret: webhookFields.secret.optional(),
    max_attempts: webhookFields.max_attempts.optional(),
    ...shape,
    ...rotation,
  }),
} as const;

export const webhooksContract = {
  listWebhooks: route({
    http: "GET /api/v1/instances/:id/webhooks",
    access: "instance",
    role: "admin",
    tag,
    summary: "List the webhooks of an instance, newest first",
    message: "Webhooks",
    aliases: searchAliases,
    input: z.object({ id: instanceId, ...searchInput }),
    output: z.array(webhook),
    beside: z.object({ pagination }),
  }),
  createWebhook: route({
    http: "POST /api/v1/instances/:id/webhooks",
    acts: { destination: true },
    access: "instance",
    role: "admin",
    tag,
    summary: "Add a webhook to an instance",
    message: "Webhook created",
    aliases: webhookAliases,
    refuses: REFUSED_WEBHOOK_FIELDS,
    example: { name: "Shop", url: "https://example.com/hook", events: ["message.received"] },
    input: z.object({
      id: instanceId,
      ...webhookFields,
      name: webhookFields.name.default("Webhook"),
      events: webhookFields.events.default([]),
      is_active: webhookFields.is_active.default(true),
      retry_enabled: webhookFields.retry_enabled.default(true),
      max_attempts: webhookFields.max_attempts.default(10),
      secret: newSecret.optional(),
      headers: webhookFields.headers.default({}),
      exclude: webhookFields.exclude.default([]),
      ordering: webhookFields.ordering.default("chat"),
      ...shape,
    }),
    output: webhook,
  }),
  updateWebhook: route({
    http: "PATCH /api/v1/instances/:id/webhooks/:webhookId",
    acts: { destination: ["url"], credential: ["secret", "rotate_secret"] },
    access: "instance",
    role: "admin",
    tag,
    summary: "Change a webhook; omitted fields stay unchanged",
    message: "Webhook updated",
    aliases: webhookAliases,
    refuses: REFUSED_WEBHOOK_FIELDS,
    example: { url: "https://example.com/hook", events: ["message.received"] },
    input: z.object({
      id: instanceId,
      webhookId,
      ...z.object(webhookFields).partial().shape,
      ...shape,
      ...rotation,
    }),
    output: webhook,
  }),
  deleteWebhook: route({
    http: "DELETE /api/v1/instances/:id/webhooks/:webhookId",
    access: "instance",
    role: "admin",
    tag,
    summary: "Remove a webhook and discard its pending deliveries",
    message: "Webhook removed",
    input: z.object({ id: instanceId, webhookId }),
    output: removedRow,
  }),
  testWebhook: route({
    http: "POST /api/v1/instances/:id/webhooks/:webhookId/test",
    errors: ["SEND_FAILED"],
    access: "instance",
    role: "admin",
    tag,
    summary: "Send a test event to a webhook and wait for its only attempt",
    message: "Test event delivered",
    description: TEST_REFUSAL,
    input: z.object({ id: instanceId, webhookId }),
    output: testResult,
  }),
  updateDefaultWebhook: route({
    http: "PATCH /api/v1/instances/:id/webhook",
    acts: { destination: ["url"], credential: ["secret", "rotate_secret"] },
    requiresBody: true,
    access: "instance",
    role: "admin",
    tag,
    summary: "Change the default webhook of the instance, or create it",
    message: "Webhook updated",
    aliases: webhookAliases,
    refuses: { ...REFUSED_WEBHOOK_FIELDS, headers: { issue: HEADERS_ELSEWHERE } },
    example: { url: "https://example.com/hook", events: ["message.received"] },
    input: z.object({
      id: instanceId,
      url: webhookFields.url.optional(),
      is_active: webhookFields.is_active.optional(),
      events: webhookFields.events.optional(),
      secret: webhookFields.secret.optional(),
      ...shape,
      ...rotation,
    }),
    output: webhook,
  }),
  testDefaultWebhook: route({
    http: "POST /api/v1/instances/:id/webhook/test",
    errors: ["SEND_FAILED"],
    access: "instance",
    role: "admin",
    tag,
    summary: "Send a test event to the default webhook and wait for its only attempt",
    message: "Test event delivered",
    description: TEST_REFUSAL,
    input: z.object({ id: instanceId }),
    output: testResult,
  }),
  openReceiver: route({
    http: "POST /api/v1/instances/:id/webhook-receiver",
    access: "instance",
    role: "admin",
    tag,
    summary:
      "Open the gateway's own receiver: a webhook that keeps what arrives, to try webhooks without a program",
    description:
      "Returns the receiver that is open already. Its webhook gets messages and connections, signed as for any other receiver; no request leaves the gateway. Remove it with its `webhook_id` as any other webhook.",
    message: "Receiver open",
    input: z.object({ id: instanceId }),
    output: ownReceiver,
  }),
  getReceiver: route({
    http: "GET /api/v1/instances/:id/webhook-receiver",
    access: "instance",
    role: "admin",
    tag,
    summary: "Get what the gateway's own receiver got: headers and body of the last 20 webhooks",
    message: "Receiver",
    input: z.object({ id: instanceId }),
    output: ownReceiver,
  }),
  retryEvent: route({
    http: "POST /api/v1/instances/:id/webhook-events/:eventId/retry",
    errors: ["CONFLICT"],
    access: "instance",
    role: "admin",
    tag,
    summary: "Send an event again to every active webhook that subscribes to it, or to one of them",
    message: "Event queued for delivery",
    example: { webhook_id: 3 },
    input: z.object({
      id: instanceId,
      eventId: boundedText(64).min(1),
      webhook_id: rowId.optional().describe("Only to this webhook, if it subscribes to the event."),
    }),
    output: resent,
  }),
  recoverWebhook: route({
    http: "POST /api/v1/instances/:id/webhooks/:webhookId/recover",
    errors: ["CONFLICT"],
    access: "instance",
    role: "admin",
    tag,
    summary: "Send all failed events of a webhook since a time again, each with new attempts",
    message: "Failed events queued for delivery",
    input: z.object({
      id: instanceId,
      webhookId,
      since,
      dry_run: z.boolean().default(false).describe("true: only counts the events, and sends nothing."),
    }),
    output: z.object({ queued: z.number().int() }),
  }),
  getGlobalWebhook: route({
    ...globalRoute,
    http: "GET /globalwebhook",
    summary: "Get the global webhook",
    message: "Global webhook",
    input: z.object({}),
  }),
  putGlobalWebhook: route({ ...setGlobal, http: "PUT /globalwebhook" }),
  postGlobalWebhook: route({ ...setGlobal, http: "POST /globalwebhook" }),
  listDeliveryLogs: route({
    http: "GET /api/v1/instances/:id/webhook-logs",
    heavy: "search",
    access: "instance",
    role: "admin",
    tag,
    summary: "List the delivery attempts, one row each",
    message: "Webhook logs",
    aliases: searchAliases,
    input: z.object({
      id: instanceId,
      ...searchInput,
      webhook_id: z.coerce.number().int().optional(),
      event: listedEvent.optional(),
      event_id: boundedText(64).optional(),
      success: boundedText(8).pipe(z.stringbool()).optional(),
      status_code: z.coerce.number().int().min(100).max(599).optional(),
      from: readTime.optional().describe("Attempts at or after this time."),
      to: readTime.optional().describe("Attempts before this time."),
    }),
    output: z.array(deliveryLog),
    beside: z.object({ pagination }),
  }),
  getDeliveryLog: route({
    http: "GET /api/v1/instances/:id/webhook-logs/:logId",
    access: "instance",
    role: "admin",
    tag,
    summary: "Get one delivery attempt",
    message: "Webhook log",
    input: z.object({ id: instanceId, logId: rowId }),
    output: deliveryLog,
  }),
  getWebhookFigures: route({
    http: "GET /api/v1/instances/:id/webhook-figures",
    heavy: true,
    access: "instance",
    role: "admin",
    tag,
    summary: "Get successes, failures and durations of the delivery attempts of the last day or week",
    message: "Figures of the webhooks",
    input: z.object({
      id: instanceId,
      webhook_id: rowId.optional(),
      period: z.enum(["day", "week"]).default("day"),
    }),
    output: figures,
  }),
  retryDeliveryLog: route({
    http: "POST /api/v1/webhook-logs/:logId/retry",
    errors: ["CONFLICT"],
    access: "key",
    role: "admin",
    tag,
    summary: "Send the event of an attempt again to the same webhook",
    message: "Event queued for delivery",
    input: z.object({ logId: rowId }),
    output: resent,
  }),
};

/** The event names that a filter includes. */
export function expandEvents(filter: readonly string[]): string[] {
  if (filter.length === 0) return [...DEFAULT_EVENTS];
  const published = [...DEFAULT_EVENTS, ...OPERATIONAL_EVENTS];
  const names = filter.flatMap((name) => {
    if (name === "*") return published;
    return name.endsWith(".*") ? published.filter((event) => event.startsWith(name.slice(0, -1))) : [name];
  });
  return [...new Set(names)];
}
