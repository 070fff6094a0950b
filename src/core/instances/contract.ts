import { z } from "zod";
import {
  isoTime,
  pagination,
  queryFlag,
  type RefusedFields,
  refuseAll,
  removedRow,
  route,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, countryCode, timeZoneText, trimmedText } from "../../platform/text/bounded-text.ts";
import { instanceId } from "../events/contract.ts";
import { planLimits } from "../plans/contract.ts";
import { eventFilter, REFUSED_WEBHOOK_FIELDS, webhook, webhookUrl } from "../webhooks/contract.ts";

export const instanceStatus = named(
  "InstanceStatus",
  z.enum([
    "created",
    "connecting",
    "qr_pending",
    "qr_expired",
    "passkey_required",
    "connected",
    "reconnecting",
    "disconnected",
    "logged_out",
    "banned",
    "error",
  ]),
);

/** Errors of routes that ask the session of an instance. */
export const SESSION_ERRORS = [
  "RECIPIENT_NOT_FOUND",
  "INSTANCE_NOT_CONNECTED",
  "CONFLICT",
  "NOT_SUPPORTED",
  "SEND_FAILED",
  "SEND_TIMEOUT",
] as const;

const timeOrNull = isoTime.nullable();
const text = z.string().nullable();

export const attention = named(
  "Attention",
  z.object({ code: z.enum(["passkey_challenge", "queue_withheld"]), message: z.string(), since: isoTime }),
)
  .nullable()
  .describe("What a person must do, because the network requires it or withholds messages.");

/** The defaults of an instance's settings. */
export const DEFAULT_SETTINGS = {
  reject_calls: false,
  reject_message: null,
  ignore_groups: false,
  mark_online: false,
  read_messages: false,
  send_delay_min_ms: 0,
  send_delay_max_ms: 0,
  messages_per_minute: null,
  media_retention_days: null,
  on_unknown: "resend",
  device_name: null,
  default_country: null,
  quiet_hours: null,
} as const satisfies z.output<typeof settings>;

const delayMs = z.number().int().min(0).max(3_600_000);

const deviceName = named(
  "DeviceName",
  trimmedText(40)
    .min(1)
    .refine((name) => !/\p{C}/u.test(name), rule("must have no control characters", "wrong_format"))
    .nullable()
    .describe(
      "Name of the session under Linked devices on the phone, from the next pairing by QR on; null: Mac OS. With a pairing code WhatsApp accepts only names of known systems, so the session is shown as Chrome (Mac OS).",
    ),
);

const clock = boundedText(5).regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 22:00");

const quietHours = named(
  "InstanceQuietHours",
  z
    .object({ from: clock, to: clock, time_zone: timeZoneText() })
    .refine(({ from, to }) => from !== to, rule("from and to are the same", "duplicate"))
    .nullable()
    .describe(
      "From `from` to `to`, perhaps of the next day, queued and scheduled messages wait as scheduled. Synchronous sends, replies of agents and bots, and campaigns do not.",
    ),
);

export const settings = named(
  "InstanceSettings",
  z.object({
    reject_calls: z.boolean(),
    reject_message: boundedText(4096).nullable().describe("Text that a rejected phone caller gets."),
    ignore_groups: z.boolean(),
    mark_online: z.boolean(),
    read_messages: z.boolean(),
    send_delay_min_ms: delayMs.describe("Shortest pause between two sends, in milliseconds."),
    send_delay_max_ms: delayMs.describe("Longest pause between two sends, in milliseconds."),
    messages_per_minute: z
      .number()
      .int()
      .min(1)
      .max(100_000)
      .nullable()
      .describe(
        "Most sends per minute of this instance, from all sources; not more than the plan allows. null: the plan's limit.",
      ),
    media_retention_days: z
      .number()
      .int()
      .min(1)
      .max(3650)
      .nullable()
      .describe("null: the gateway's default."),
    on_unknown: z
      .enum(["resend", "fail"])
      .describe(
        "What happens to a send with an unknown outcome after a crash: it is sent again with the same id, or it fails.",
      ),
    device_name: deviceName,
    default_country: countryCode()
      .nullable()
      .describe("Country of phone numbers without a country code; null: the account's `default_country`."),
    quiet_hours: quietHours,
  }),
);

const webhookPackage = named(
  "WebhookAddresses",
  z.object({
    webhooks_url: z.string(),
    webhook_events_url: z.string(),
    webhook_logs_url: z.string(),
    webhook_test_url: z.string(),
    signing_header: z.string(),
    signature_format: z.string(),
  }),
);

const instance = named(
  "Instance",
  z.object({
    id: z.number().int(),
    account_id: z.number().int(),
    parent_instance_id: z
      .number()
      .int()
      .nullable()
      .describe(
        "The instance whose key created this one, also after its removal; null: a user or the operator did.",
      ),
    name: z.string(),
    network: z.enum(["whatsapp", "sandbox"]),
    status: instanceStatus,
    connection_status: instanceStatus,
    phone: text,
    phone_connected: text,
    jid: text,
    lid: text,
    profile_name: text,
    profile_picture_url: text,
    webhook_enabled: z.boolean(),
    webhook: webhookPackage,
    metadata: z.record(z.string(), z.unknown()),
    settings,
    limits: named(
      "InstanceLimits",
      planLimits.extend({
        messages_per_minute: z
          .number()
          .int()
          .nullable()
          .describe(
            "Effective limit per minute: the smaller of the instance's setting and the plan's `message_rate_limit_per_minute`; null: no limit.",
          ),
        messages_used: z
          .number()
          .int()
          .nullable()
          .describe("Messages of the whole account in this month (UTC); null: the plan has no such limit."),
        messages_reset_at: isoTime,
      }),
    ),
    new_chats_locked_until: timeOrNull.describe(
      "Until this time the network rejects messages of this instance that start new chats.",
    ),
    attention,
    last_qr_at: timeOrNull,
    connected_at: timeOrNull,
    disconnected_at: timeOrNull,
    last_seen_at: timeOrNull.describe(
      "When the session was last known to be connected; updated every five to six minutes.",
    ),
    last_disconnect_reason: text,
    created_at: isoTime,
    updated_at: isoTime,
  }),
);

const instanceWithToken = named(
  "InstanceWithKey",
  instance.extend({
    token: text.describe("The API key; in full at creation, otherwise masked."),
  }),
);

const keyScope = z
  .enum(["instance", "account"])
  .describe(
    "Whose chats and messages the key can read: of its own instance, or of all instances of the account.",
  );

const apiKey = named(
  "ApiKey",
  z.object({
    id: z.number().int().describe("Of the instance."),
    token: z.string().describe("Masked."),
    scope: keyScope,
    created_at: isoTime,
    last_used_at: timeOrNull,
    expires_at: timeOrNull.describe("From then on it is refused; null: no end."),
    is_renewed_by_key: z.boolean().describe("Whether the key before it created it, and no user."),
    descendants: z
      .number()
      .int()
      .describe("Instances that were created with keys of this instance, or with keys of such instances."),
  }),
);

const created = named(
  "CreatedInstance",
  z.object({
    id: z.number().int(),
    name: z.string(),
    status: instanceStatus,
    api_key: z.string().describe("Returned only in this response."),
    webhook_secret: z.string().describe("Returned only in this response."),
    webhook: webhookPackage.extend({ secret: z.string() }),
    default_webhook: webhook.optional().describe("Present when a webhook address was given."),
  }),
);

const proxyUrl = trimmedText(2048).regex(
  /^(https?|socks[45]):\/\/[^\s/]+/i,
  "must be an http, https, socks4 or socks5 address",
);

const METADATA_LENGTH = 16_384;

/** Settings that other gateways accept beside the name; those inside `settings` take precedence. */
export const topLevelSettings = settings
  .pick({
    reject_calls: true,
    reject_message: true,
    ignore_groups: true,
    mark_online: true,
    read_messages: true,
    device_name: true,
    default_country: true,
  })
  .partial();

const fields = {
  name: trimmedText(100).min(1),
  metadata: z
    .record(boundedText(100), z.unknown())
    .refine(
      (value) => JSON.stringify(value).length <= METADATA_LENGTH,
      rule("is longer than 16384 characters as JSON", "too_long", { max: METADATA_LENGTH }),
    )
    .describe("Your own data, which every event of the instance contains."),
  proxy: z
    .object({ url: proxyUrl })
    .nullable()
    .describe("Proxy for the connection to the network; null: none."),
  settings: named("InstanceSettingsChange", settings.partial()),
};

const createInput = z.object({
  name: fields.name,
  webhook_url: z
    .union([z.literal(""), webhookUrl])
    .nullish()
    .describe("Address of the first webhook, which the gateway then creates."),
  webhook: z
    .union([z.literal(""), webhookUrl, z.object({ url: webhookUrl, events: eventFilter.optional() })])
    .nullish()
    .describe("The same as `webhook_url`, or an object that also selects the events."),
  network: z.enum(["whatsapp", "sandbox"]).optional(),
  metadata: fields.metadata.optional(),
  proxy: fields.proxy.optional(),
  settings: fields.settings.optional(),
  ...topLevelSettings.shape,
});

const flatAliases = {
  reject_calls: ["rejectCall", "settings.rejectCall"],
  reject_message: ["msgCall", "settings.msgCall"],
  ignore_groups: ["groupsIgnore", "settings.groupsIgnore"],
  mark_online: ["alwaysOnline", "settings.alwaysOnline"],
  read_messages: ["readMessages", "settings.readMessages"],
  device_name: ["deviceName", "settings.deviceName"],
  default_country: ["defaultCountry", "settings.defaultCountry"],
};

const aliases = { name: ["instanceName"], webhook_url: ["webhookUrl"], ...flatAliases };

const PROXY_ELSEWHERE = "is not a field of this request: send the whole address of the proxy as proxy{url}";
const NOT_A_SETTING = "is not a setting of this gateway. Send the request without it";

/** What other gateways take with an instance, and what would change it if it was ignored. */
const REFUSED_INSTANCE_FIELDS: RefusedFields = {
  ...refuseAll(PROXY_ELSEWHERE, "proxyHost", "proxyPort", "proxy.host", "host", "port", "config.proxy"),
  ...refuseAll(
    NOT_A_SETTING,
    "readStatus",
    "syncFullHistory",
    "settings.readStatus",
    "settings.syncFullHistory",
  ),
  "config.webhooks": { issue: "is not a field of this request: send webhook{url,events}" },
};

export const INSTANCES_TAG = "Instances";
const tag = INSTANCES_TAG;

export const instancesContract = {
  listInstances: route({
    http: "GET /api/v1/instances",
    heavy: "search",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "List the instances of the account, newest first unless `sort` says otherwise; `q` can be an id",
    message: "Instances",
    aliases: searchAliases,
    input: z.object({
      ...searchInput,
      status: instanceStatus.optional().describe("Only instances with this status."),
      sort: z
        .enum(["newest", "oldest", "name"])
        .default("newest")
        .describe("A cursor is valid only with the order of its page."),
    }),
    output: z.array(instance),
    beside: z.object({ pagination }),
  }),
  createInstance: route({
    http: "POST /api/v1/instances",
    acts: { credential: true, destination: ["webhook_url", "webhook", "proxy"] },
    access: "account",
    role: "admin",
    tag,
    summary: "Create an instance; only this response shows its API key and webhook secret",
    message: "Instance created",
    idempotent: true,
    aliases,
    refuses: {
      ...REFUSED_INSTANCE_FIELDS,
      ...REFUSED_WEBHOOK_FIELDS,
      "webhook.enabled": {
        issue: "must be true: leave the webhook out, or disable it with PATCH webhook",
        isAsked: (value) => value === false,
      },
    },
    example: { name: "Sales", network: "sandbox" },
    input: createInput,
    output: created,
  }),
  getInstance: route({
    http: "GET /api/v1/instances/:id",
    access: "instance",
    tag,
    summary: "Get an instance",
    message: "Instance",
    input: z.object({ id: instanceId }),
    output: instance,
  }),
  updateInstance: route({
    http: "PATCH /api/v1/instances/:id",
    acts: { destination: ["proxy"], irreversible: ["settings.media_retention_days"] },
    access: "instance",
    role: "admin",
    tag,
    summary: "Change an instance; omitted fields stay unchanged",
    message: "Instance updated",
    aliases: { ...flatAliases, name: ["instanceName"], webhook_enabled: ["webhookEnabled"] },
    refuses: REFUSED_INSTANCE_FIELDS,
    example: { name: "Sales" },
    input: z.object({
      id: instanceId,
      ...z.object(fields).partial().shape,
      ...topLevelSettings.shape,
      webhook_enabled: z.boolean().optional().describe("false: the instance's webhooks get no new events."),
    }),
    output: instance,
  }),
  deleteInstance: route({
    http: "DELETE /api/v1/instances/:id",
    acts: { irreversible: true },
    access: "instance",
    role: "admin",
    tag,
    summary: "Unlink and remove an instance with its keys, webhooks and messages",
    message: "Instance removed",
    input: z.object({
      id: instanceId,
      end_descendants: queryFlag.default(false).describe("Whether the keys of descendants end too."),
    }),
    output: removedRow,
  }),
};

/** The proxy of an instance; `updateInstance` sets it. */
export const proxyContract = {
  getProxy: route({
    http: "GET /api/v1/instances/:id/proxy",
    access: "instance",
    role: "admin",
    tag,
    summary: "Get the proxy of an instance, without its user name and password",
    message: "Proxy",
    input: z.object({ id: instanceId }),
    output: z.object({ id: z.number().int(), url: text.describe("null: no proxy.") }),
  }),
  testProxy: route({
    http: "POST /api/v1/instances/:id/proxy/test",
    requiresBody: true,
    access: "instance",
    role: "admin",
    tag,
    summary: "Reach WhatsApp through a proxy, without a change to the session",
    description: "At most 10 tests per minute and instance. A test takes at most 10 seconds.",
    message: "Proxy tested",
    input: z.object({ id: instanceId, url: proxyUrl.optional().describe("Default: the stored proxy.") }),
    output: z.object({
      reached: z.boolean(),
      duration_ms: z.number().int(),
      error: text.describe("What went wrong, in a sentence."),
    }),
  }),
};

/** API keys, and the routes of a key or the administrative token that concern no single instance. */
export const apiKeysContract = {
  regenerateApiKey: route({
    http: "POST /api/v1/instances/:id/api-key/regenerate",
    acts: { credential: true },
    access: "instance",
    role: "admin",
    tag,
    summary: "Regenerate the instance's API key; the old one ends immediately or after `grace_seconds`",
    description:
      "A key that renews itself stays valid for an hour or longer, and the account's overview reports the renewal. Only a user can end a key sooner, or end other keys.",
    message: "API key regenerated",
    aliases: { grace_seconds: ["graceSeconds"], end_descendants: ["endDescendants"] },
    input: z.object({
      id: instanceId,
      grace_seconds: z.coerce
        .number()
        .int()
        .min(0)
        .max(86_400)
        .optional()
        .describe("Default: 0; for a request with a key 3600, which is also its minimum."),
      leaked: z
        .boolean()
        .default(false)
        .describe(
          "Others may have the old key: it ends at once with its links for pairing, and by default so do those of descendants.",
        ),
      end_descendants: z
        .boolean()
        .optional()
        .describe("Whether the keys of descendants end together with the old key. Default: as `leaked`."),
    }),
    output: z.object({
      id: z.number().int(),
      api_key: z.string().describe("Returned only in this response."),
      descendants: z
        .array(z.object({ id: z.number().int(), name: z.string() }))
        .describe(
          "The newest 100 instances that were created with keys of this instance or of its descendants.",
        ),
      descendants_ended: z
        .boolean()
        .describe("Whether their keys end. Each gets a new key as this instance did."),
    }),
  }),
  getApiKey: route({
    http: "GET /api/v1/instances/:id/api-key",
    access: "instance",
    role: "admin",
    tag,
    summary: "Get the permissions of an instance's API key; the key itself is masked",
    message: "API key",
    input: z.object({ id: instanceId }),
    output: apiKey,
  }),
  updateApiKey: route({
    http: "PATCH /api/v1/instances/:id/api-key",
    acts: { credential: true },
    access: "account",
    role: "admin",
    tag,
    summary:
      "Set whether the API key of an instance can read the chats of the whole account or only of its instance",
    message: "API key updated",
    input: z.object({ id: instanceId, scope: keyScope }),
    output: apiKey,
  }),
  listAllInstances: route({
    http: "GET /instance/all",
    heavy: "search",
    access: "key_or_admin",
    keepsToInstances: true,
    assistants: "by tools",
    tag,
    summary: "List the instances of the key's account, or all of them with the administrative token",
    description:
      "A key lists its own instance only, if the account's setting `keys_manage_instances` is false and its scope is `instance`.",
    message: "Instances",
    aliases: searchAliases,
    input: z.object(searchInput),
    output: z.array(instanceWithToken),
    beside: z.object({ pagination }),
  }),
  createInstanceWithKey: route({
    http: "POST /instance/create",
    access: "key_or_admin",
    tag,
    summary: "Create an instance in the key's account, or in any account with the administrative token",
    message: "Instance created",
    idempotent: true,
    aliases: { ...aliases, account_id: ["accountId"] },
    example: { name: "Sales", network: "sandbox" },
    input: createInput.extend({
      account_id: z.coerce
        .number()
        .int()
        .positive()
        .optional()
        .describe("Only with the administrative token. Default: the owner's account."),
    }),
    output: created,
    beside: z.object({
      instance: instanceWithToken,
      token: z.string(),
      name: z.string(),
      connected: z.boolean(),
      loggedIn: z.boolean(),
    }),
  }),
};
