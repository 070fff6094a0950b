import { z } from "zod";
import { route } from "../../platform/http/route.ts";

const availability = z.enum(["available", "unavailable"]);
const tag = "Health";

const alive = {
  success: z.boolean(),
  ok: z.boolean(),
  name: z.string(),
  status: availability,
  timestamp: z.iso.datetime(),
};

const detail = z
  .object({
    version: z.string(),
    node_version: z.string(),
    roles: z.array(z.string()),
    outgoing_calls: z.object({
      allowed_hosts: z.array(z.string()).describe("The value of `WAYGATE_ALLOWED_HOSTS`."),
      this_machine: z
        .boolean()
        .describe("Whether webhooks and other outgoing requests may go to this machine."),
    }),
    client_version: z
      .object({
        version: z.string().describe("The version with which sessions log in to WhatsApp."),
        source: z.enum(["pinned", "fetched", "listed", "built-in"]),
        searching: z
          .boolean()
          .describe(
            "Whether the gateway searches for newer versions; false if `WAYGATE_WHATSAPP_VERSION` or `WAYGATE_WHATSAPP_URL` is set.",
          ),
        found_at: z.iso.datetime().nullable().describe("When WhatsApp last confirmed a version."),
        age_seconds: z
          .number()
          .int()
          .nullable()
          .describe("Seconds since `found_at`; null before the first successful search."),
        problem: z.string().nullable().describe("Why the last search found nothing."),
        expires_at: z.iso
          .datetime()
          .nullable()
          .describe("When WhatsApp will refuse this version; null: it has named no time."),
      })
      .describe("The version of WhatsApp's web client."),
    database: z
      .object({
        version: z.string(),
        instances: z.number().int(),
        connected_instances: z.number().int(),
        failed_instances: z
          .array(z.object({ reason: z.string(), instances: z.number().int() }))
          .describe("Instances with the status `error`, counted by the code in `last_disconnect_reason`."),
        nodes: z.array(z.object({ id: z.string(), roles: z.array(z.string()), url: z.string().nullable() })),
      })
      .nullable(),
  })
  .optional()
  .describe("Only with the administrative token, or with the metrics token as a bearer token.");

const report = z.object({
  ...alive,
  ok: z.boolean().describe("Whether this process accepts requests; the same as `ready`."),
  database: availability,
  bridge: availability.describe(
    "Whether a node with the role `sessions` is running, even without instances.",
  ),
  queue_driver: z.enum(["postgres", "off"]),
  queue_store: availability,
  workers: availability.describe("Whether a node with the role `worker` is running."),
  ready: z.boolean(),
  production_ready: z.boolean().describe("Does not change the status of the response."),
  production_blockers: z.array(z.object({ key: z.string(), message: z.string() })),
  detail,
});

const readiness = {
  access: "public",
  isExemptFromLimits: true,
  tag,
  input: z.object({}),
  output: report,
  bare: true,
  statuses: [503],
} as const;

export const healthContract = {
  health: route({
    http: "GET /health",
    summary: "Get the state of database, sessions, queue and readiness for production; 503 if not ready",
    ...readiness,
  }),
  healthReady: route({
    http: "GET /health/ready",
    summary: "Get the readiness, for orchestrators that need a separate path",
    ...readiness,
  }),
  healthLive: route({
    http: "GET /health/live",
    access: "public",
    isExemptFromLimits: true,
    tag,
    summary: "Check that the process responds; does not check the database or anything else",
    input: z.object({}),
    output: z.object(alive),
    bare: true,
  }),
};
