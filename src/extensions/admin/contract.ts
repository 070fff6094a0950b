import { z } from "zod";
import { listedEvent } from "../../core/events/contract.ts";
import { instanceStatus } from "../../core/instances/contract.ts";
import {
  isoTime,
  pageInput,
  pagination,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";

const tag = "Administration";
const count = z.number().int();
const text = z.string().nullable();
const severity = z.enum(["ok", "warning", "critical"]);

const alert = named(
  "Alert",
  z.object({
    key: z.string(),
    severity: z.enum(["warning", "critical"]),
    message: z.string(),
    recommended_action: z.string(),
    account_id: z.number().int().nullable(),
    instance_id: z.number().int().nullable(),
    webhook_id: z.number().int().nullable(),
    name: text.describe("Of the instance, webhook, account or queue that the alert is about."),
    status: text.describe(
      "Of an instance: its status. Of a webhook: `disabled`, `unreachable` or the last HTTP status. Of storage: the percent in use. Of a queue: how late it is, in seconds. Of restored work: the decision, if there is one.",
    ),
    error_class: text.describe("Of a webhook: its `last_error_class`."),
    since: isoTime.nullable(),
  }),
);

const watchedInstance = named(
  "WatchedInstance",
  z.object({
    id: z.number().int(),
    account_id: z.number().int(),
    account_name: z.string(),
    name: z.string(),
    network: z.string(),
    status: z.string(),
    phone: text,
    connected_at: isoTime.nullable(),
    last_seen_at: isoTime.nullable(),
    last_disconnect_reason: text,
    messages_24h: count.describe("At most 10,000 are counted."),
    failures_24h: count,
    waiting_sends: count,
    seconds_since_last_inbound: count.nullable(),
    attempts: count.describe("Connections that failed or were lost since the last one."),
    memory_mb: z
      .number()
      .nullable()
      .describe(
        "Estimate: the memory that the session's node has allocated since its start, divided by its sessions; null without a session.",
      ),
    recommended_action: text,
    action_reason: z.enum(["status", "failures", "silence"]).nullable(),
  }),
);

const monitor = named(
  "Monitor",
  z.object({
    generated_at: isoTime,
    noc: z.object({
      severity,
      headline: z.string(),
      critical: count,
      warnings: count,
    }),
    metrics: z.object({
      accounts: count,
      instances: count,
      connected_instances: count,
      instances_by_status: z.record(z.string(), count),
      webhooks: count,
      failing_webhooks: count,
      waiting_jobs: count,
    }),
    queues: z.array(
      z.object({
        name: z.string(),
        waiting: count.describe("Due now or later; counts at most 200,000 jobs."),
        due: count,
        oldest_due_seconds: count.nullable(),
      }),
    ),
    instances: z.array(watchedInstance),
    webhooks: z.array(
      z.object({
        id: z.number().int(),
        account_id: z.number().int().nullable(),
        instance_id: z.number().int().nullable(),
        name: z.string(),
        is_active: z.boolean(),
        failing_since: isoTime.nullable(),
        failed_events: count,
        last_status: z.number().int().nullable(),
        last_error_class: text,
        disabled_reason: text,
        recommended_action: z.string(),
      }),
    ),
    nodes: z
      .array(
        z.object({
          id: z.string(),
          roles: z.array(z.string()),
          url: text.describe("Where the other nodes reach it."),
          started_at: isoTime,
          memory_mb: z.number().nullable(),
        }),
      )
      .describe("The running processes of the gateway; a reseller sees none."),
    alerts: z.array(alert),
  }),
);

const monitorInput = z.object({
  ...pageInput,
  status: instanceStatus.optional().describe("Only instances with this status."),
  account_id: rowId.optional(),
});

const scope = { account_id: z.number().int().nullable(), instance_id: z.number().int().nullable() };

const logRow = named(
  "LogEntry",
  z.discriminatedUnion("type", [
    named(
      "AuditEntry",
      z.object({
        type: z.literal("audit"),
        id: z.number().int(),
        account_id: z.number().int().nullable(),
        actor: z.string(),
        actor_id: z.number().int().nullable(),
        credential_id: text,
        action: z.string(),
        target_type: z.string(),
        target_id: text,
        fields: z.array(z.string()),
        ip: text,
        request_id: text,
        created_at: isoTime,
      }),
    ),
    named(
      "ApiEntry",
      z.object({
        type: z.literal("api"),
        id: z.number().int(),
        ...scope,
        caller: z.string(),
        user_id: z.number().int().nullable(),
        key_last4: text,
        method: z.string(),
        route: z.string(),
        status: z.number(),
        code: text,
        duration_ms: z.number(),
        ip: text,
        request_id: z.string(),
        created_at: isoTime,
      }),
    ),
    named(
      "ConnectionEntry",
      z.object({
        type: z.literal("connections"),
        id: z.number().int(),
        ...scope,
        status: z.string(),
        reason: text,
        created_at: isoTime,
      }),
    ),
    named(
      "MessageEntry",
      z.object({
        type: z.literal("messages"),
        id: z.number().int(),
        ...scope,
        message_id: z.string(),
        direction: z.string(),
        origin: z.string(),
        message_type: z.string(),
        status: z.string(),
        error_code: text,
        sent_at: isoTime,
        created_at: isoTime,
      }),
    ),
    named(
      "WebhookEntry",
      z.object({
        type: z.literal("webhooks"),
        id: z.number().int(),
        ...scope,
        event_id: z.string(),
        event: z.string(),
        webhook_id: z.number().int(),
        webhook_name: z.string(),
        url: z.string().describe("Without its user name and password."),
        attempt: z.number().int(),
        trigger: z.string(),
        success: z.boolean(),
        status_code: z.number().int().nullable(),
        error: text,
        error_class: text,
        duration_ms: z.number(),
        created_at: isoTime,
      }),
    ),
  ]),
);

const monitorRoute = {
  access: "manager",
  tag,
  summary: "Get the state of instances, queues and webhooks, with advice for each problem",
  message: "Monitor",
  input: monitorInput,
  output: monitor,
  beside: z.object({ pagination }),
} as const;

export const adminContract = {
  accountOverview: route({
    http: "GET /api/account/overview",
    heavy: true,
    access: "account",
    keepsToInstances: true,
    tag: "Account",
    summary: "Get problems with advice, and the messages and webhook attempts of each of the last 24 hours",
    message: "Overview",
    input: z.object({}),
    output: z.object({
      alerts: z.array(alert).describe("Agents get none about webhooks and keys."),
      instances_by_status: z.record(z.string(), count),
      hours: z.array(
        z.object({
          hour: isoTime,
          sent: count,
          failed: count,
          received: count,
          delivered: count,
          failed_attempts: count,
        }),
      ),
      is_complete: z.boolean().describe("false: more than 100,000 messages or attempts, not all counted."),
    }),
  }),
  adminOverview: route({
    http: "GET /api/admin/overview",
    heavy: true,
    access: "manager",
    tag,
    summary: "Count accounts, users, instances and messages",
    message: "Overview",
    input: z.object({}),
    output: z.object({
      accounts: count,
      active_accounts: count.describe("Accounts with the status `active` or `trial`."),
      resellers: count,
      customers: count,
      users: count,
      instances: count,
      connected_instances: count,
      messages_month: count.describe(
        "Messages sent since the first of the month (UTC), without failed ones; up to two minutes old.",
      ),
      failed_webhooks: count.describe("Webhooks that fail now, or that were disabled because they failed."),
      queue: z.object({ waiting: count, due: count, oldest_due_seconds: count.nullable() }),
      held_back: z
        .object({ sends: count, deliveries: count, others: count })
        .describe("Jobs on hold after a restore, until you release or discard them; a reseller sees none."),
      next_account_closes_this_machine: z
        .boolean()
        .describe(
          "Whether a second account will end all requests to this machine, such as webhooks to `localhost` (`WAYGATE_LOCAL_TARGETS`).",
        ),
    }),
  }),
  adminMonitor: route({ http: "GET /api/admin/waygate-monitor", ...monitorRoute }),
  adminMonitorAsPublished: route({ http: "GET /api/admin/wooapi-monitor", ...monitorRoute }),
  listLogs: route({
    http: "GET /api/admin/logs",
    heavy: "search",
    access: "manager",
    tag,
    summary: "Read one of the logs, newest first; without the contents of messages",
    message: "Logs",
    aliases: searchAliases,
    input: z.object({
      ...searchInput,
      type: z.enum(["audit", "api", "connections", "messages", "webhooks"]).default("audit"),
      account_id: rowId.optional(),
      instance_id: rowId.optional().describe("Not for `audit`."),
      action: boundedText(100).optional().describe("For `audit`: `instance.logout`, or `instance.*`."),
      event: listedEvent.optional().describe("For `webhooks`."),
      success: boundedText(8)
        .pipe(z.stringbool())
        .optional()
        .describe("For `webhooks` and `api`: only successful entries, or only failed ones."),
    }),
    output: z.array(logRow),
    beside: z.object({ pagination }),
  }),
};
