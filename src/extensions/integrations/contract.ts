import { z } from "zod";
import { instanceId } from "../../core/events/contract.ts";
import { reasonParams } from "../../platform/http/reason-schemas.ts";
import { isoTime, pageInput, pagination, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

const PROVIDERS = ["n8n", "typebot", "chatwoot"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

const provider = z.enum(PROVIDERS, `must be one of ${PROVIDERS.join(", ")}`);

export const integration = named(
  "Integration",
  z.object({
    provider,
    enabled: z.boolean(),
    config: z
      .record(z.string(), z.unknown())
      .describe("Secrets are masked. If you send a masked secret back, it stays unchanged."),
    has_token: z.boolean(),
    status: z
      .enum(["unknown", "ok", "warning", "failing", "auth_error", "inactive"])
      .describe(
        "Result of the last request. `warning`: it worked, except for the problem in `last_error`. `inactive`: the service responds but does not accept events.",
      ),
    last_error: z.string().nullable(),
    last_error_code: z
      .string()
      .nullable()
      .describe("What `last_error` is about, such as `dns`, if it is known."),
    last_error_params: reasonParams.nullable(),
    last_error_is_past: z
      .boolean()
      .describe("Whether a later request has succeeded, so that `last_error` is out of date."),
    last_error_at: isoTime.nullable(),
    last_success_at: isoTime.nullable(),
    paused_until: isoTime
      .nullable()
      .describe(
        "Until this time the gateway sends nothing to the integration, because most requests failed; null: not paused.",
      ),
    paused_chats: z
      .array(z.object({ chat: z.string(), paused_until: isoTime, pauses: z.number().int() }))
      .describe("Chats in which the integration is paused because it replied too often; the latest 50."),
    waiting: z.number().describe("Number of events and tasks that wait for the integration."),
    created_at: isoTime,
    updated_at: isoTime,
  }),
);

const saved = integration.extend({
  warnings: z.array(z.string()).describe("Problems that the configuration is likely to cause."),
});

const testReport = named(
  "IntegrationTest",
  z.object({
    success: z.boolean(),
    message: z.string().describe("The problem and its remedy, as a text."),
    status_code: z.number().int().nullable(),
    duration_ms: z.number(),
    details: z.record(z.string(), z.unknown()),
  }),
);

export type TestReport = z.output<typeof testReport>;

/** Chatwoot sends a message of 150,000 characters twice in one webhook. */
const WEBHOOK_BODY_BYTES = 2 * 1_048_576;

const shared = {
  access: "instance",
  tag: "Integrations",
  feature: "integrations",
} as const;

const target = z.object({ id: instanceId, provider });

const FIELDS = `Either \`{"enabled": true, "config": {...}}\` or the fields of \`config\` themselves.

* **n8n**: \`webhook_url\`, \`token\`, \`auth\` (none, header, bearer, basic, jwt), \`header_name\`, \`events\`,
  \`include_from_me\`, \`include_groups\`, \`timeout_ms\`, \`reply_mode\` (none, response), \`retry\`, \`media\` (url, base64, none),
  \`loop_protection\`, \`max_replies_per_minute\`
* **typebot**: \`base_url\`, \`public_id\`, \`api_token\`, \`trigger\`, \`trigger_operator\`, \`trigger_value\`, \`stop_keywords\`,
  \`restart_keywords\`, \`session_expiry_minutes\`, \`on_end\`, \`keep_closed_for_minutes\`, \`ignore_groups\`, \`ignore_jids\`,
  \`pause_on_human_minutes\`, \`debounce_ms\`, \`min_delay_ms\`, \`max_delay_ms\`, \`typing_presence\`, \`choices\` (text, poll),
  \`unsupported_message\`, \`goodbye_message\`, \`variables\`, \`max_wait_seconds\`, \`loop_protection\`, \`max_replies_per_minute\`
* **chatwoot**: \`url\`, \`access_token\`, \`account_id\`, \`inbox_id\` (or \`auto_create\` with \`inbox_name\`), \`force\`,
  \`sign_messages\`, \`signature_delimiter\`, \`reopen_conversation\`, \`conversation_status\` (open, pending), \`groups\`,
  \`ignore_jids\`, \`sent_from_phone\` (message, private_note, off), \`sync_status\`, \`mark_read\`, \`typing\`, \`keep_deleted\`,
  \`merge_brazil_contacts\`, \`files_from_url\`, \`all_audio_as_voice\`

See \`docs/guides/n8n.md\`, \`docs/guides/typebot.md\` and \`docs/guides/chatwoot.md\`.`;

export const integrationsContract = {
  listIntegrations: route({
    http: "GET /api/v1/instances/:id/integrations",
    role: "admin",
    ...shared,
    summary: "List the integrations of an instance, newest first",
    input: z.object({ id: instanceId, ...pageInput }),
    output: z.array(integration),
    beside: z.object({ pagination }),
  }),
  getIntegration: route({
    http: "GET /api/v1/instances/:id/integrations/:provider",
    role: "admin",
    ...shared,
    summary: "Get the configuration and state of an integration",
    input: target,
    output: integration,
  }),
  saveIntegration: route({
    http: "PUT /api/v1/instances/:id/integrations/:provider",
    acts: { destination: true },
    requiresBody: true,
    errors: ["CONFLICT", "CONNECT_FAILED"],
    ...shared,
    role: "admin",
    summary: "Configure an integration; with only the field `enabled` the configuration stays unchanged",
    description: FIELDS,
    message: "Integration saved",
    example: { enabled: true, config: { webhook_url: "https://n8n.example.com/webhook/waygate" } },
    input: z.looseObject({
      id: instanceId,
      provider,
      enabled: z.boolean().optional(),
      config: z.record(boundedText(100), z.unknown()).optional(),
    }),
    output: saved,
  }),
  deleteIntegration: route({
    http: "DELETE /api/v1/instances/:id/integrations/:provider",
    ...shared,
    role: "admin",
    summary: "Remove an integration and its pending events",
    message: "Integration removed",
    input: target,
    output: z.object({ provider }),
  }),
  testIntegration: route({
    http: "POST /api/v1/instances/:id/integrations/:provider/test",
    ...shared,
    role: "admin",
    summary: "Test an integration and explain its problems",
    message: "Integration tested",
    input: target,
    output: testReport,
  }),
  receiveChatwoot: route({
    http: "POST /webhooks/chatwoot/:id/:token",
    errors: ["INVALID_CREDENTIALS", "INSTANCE_NOT_CONNECTED", "NOT_SUPPORTED", "MEDIA_DOWNLOAD_FAILED"],
    access: "public",
    tag: "Integrations",
    summary: "Receive the webhooks of a Chatwoot inbox; saving the integration registers this address there",
    message: "Webhook received",
    pathToken: true,
    signed: true,
    bodyLimitBytes: WEBHOOK_BODY_BYTES,
    input: z.object({ id: instanceId, token: boundedText(200).min(1) }),
    output: z.object({ received: z.literal(true) }),
  }),
};
