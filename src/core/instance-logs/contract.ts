import { z } from "zod";
import { sendError } from "../../platform/http/reason-schemas.ts";
import { isoTime, pagination, route, searchAliases, searchInput } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";
import { instanceId } from "../events/contract.ts";

const text = z.string().nullable();

const message = named(
  "MessageLogEntry",
  z.object({
    id: z.number().int(),
    message_id: z.string(),
    direction: z.string(),
    origin: z.string(),
    jid: z.string(),
    type: z.string(),
    status: z.string(),
    error: sendError.nullable(),
    track_id: text,
    created_at: isoTime,
  }),
);

const connection = named(
  "ConnectionLogEntry",
  z.object({ id: z.number().int(), status: z.string(), reason: text, created_at: isoTime }),
);

const webhook = named(
  "AttemptLogEntry",
  z.object({
    id: z.number().int(),
    webhook_id: z.number().int(),
    webhook_name: z.string(),
    event_id: z.string(),
    event: z.string(),
    url: z.string(),
    attempt: z.number().int(),
    trigger: z.string(),
    success: z.boolean(),
    status_code: z.number().int().nullable(),
    error: text,
    error_class: text,
    duration_ms: z.number(),
    created_at: isoTime,
  }),
);

const api = named(
  "RequestLogEntry",
  z.object({
    id: z.number().int(),
    method: z.string(),
    route: z.string().describe("The path pattern of the route."),
    status: z.number().int(),
    code: text.describe("The error code of a failed request."),
    duration_ms: z.number(),
    caller: z.enum(["user", "key", "admin"]),
    user_id: z.number().int().nullable(),
    key_last4: text,
    ip: text.describe("The caller's address without its last part."),
    request_id: z.string(),
    created_at: isoTime,
  }),
);

const time = boundedText(64)
  .check(z.iso.datetime({ offset: true, error: "must be a time in ISO 8601, such as 2026-01-31T12:00:00Z" }))
  .transform((written) => new Date(written));

export const LOG_TYPES = ["messages", "connections", "webhooks", "api"] as const;

export const instanceLogsContract = {
  listInstanceLogs: route({
    http: "GET /api/v1/instances/:id/logs",
    heavy: "search",
    access: "instance",
    tag: "Instances",
    summary: "Get the latest log entries of an instance, newest first; with `type` one log with pages",
    message: "Logs",
    aliases: searchAliases,
    input: z.object({
      id: instanceId,
      type: z.enum(LOG_TYPES).optional().describe("Default: the newest entries of each log."),
      failed: boundedText(8)
        .pipe(z.stringbool())
        .optional()
        .describe("true: only failures, and connections that ended."),
      since: time.optional().describe("Only entries at or after this time."),
      until: time.optional().describe("Only entries before this time."),
      ...searchInput,
    }),
    output: z.object({
      messages: z.array(message),
      connections: z.array(connection),
      webhooks: z.array(webhook),
      api: z.array(api),
    }),
    beside: z.object({ pagination }),
  }),
};
