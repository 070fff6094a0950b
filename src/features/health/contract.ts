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
      allowed_hosts: z.array(z.string()).describe("As `WAYGATE_ALLOWED_HOSTS` has them."),
      this_machine: z.boolean().describe("Whether webhooks and other outgoing calls may go to this machine."),
    }),
    client_version: z
      .object({
        version: z.string().describe("What sessions log in to WhatsApp as."),
        source: z.enum(["pinned", "fetched", "built-in"]),
        searching: z
          .boolean()
          .describe(
            "Whether the gateway looks for newer versions. False: `WAYGATE_WHATSAPP_VERSION` or `WAYGATE_WHATSAPP_URL` is set.",
          ),
        found_at: z.iso.datetime().nullable().describe("When WhatsApp last confirmed a version."),
        age_seconds: z
          .number()
          .int()
          .nullable()
          .describe("Since `found_at`. Null before the first search that found a version."),
        problem: z.string().nullable().describe("Why the last search found nothing."),
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
  .describe("With the administrative token, or the metrics token as a bearer token.");

const report = z.object({
  ...alive,
  ok: z.boolean().describe("Whether this process wants to be given requests; the same as `ready`."),
  database: availability,
  bridge: availability.describe("Whether some node holds sessions; also with no instance at all."),
  queue_driver: z.enum(["postgres", "off"]),
  queue_store: availability,
  workers: availability.describe("Whether some node delivers webhooks and sends."),
  ready: z.boolean(),
  production_ready: z.boolean().describe("Never changes the status of the answer."),
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
    summary:
      "Database, sessions, queue, readiness and what stands in the way of production; 503 when not ready",
    ...readiness,
  }),
  healthReady: route({
    http: "GET /health/ready",
    summary: "The same, for orchestrators that want a path of its own",
    ...readiness,
  }),
  healthLive: route({
    http: "GET /health/live",
    access: "public",
    isExemptFromLimits: true,
    tag,
    summary: "Whether the process answers at all; asks nothing else, the database least of all",
    input: z.object({}),
    output: z.object(alive),
    bare: true,
  }),
};
