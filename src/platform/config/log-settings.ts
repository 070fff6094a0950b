import * as type from "./setting-types.ts";

/** Settings of logs, metrics and traces. */
export const LOG_SETTINGS = {
  logLevel: type
    .oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .prefault("info")
    .describe("Lowest level that is logged.")
    .meta({ section: "Logs, metrics and traces", env: "WAYGATE_LOG_LEVEL" }),
  metricsToken: type
    .secret(16)
    .optional()
    .describe(
      "Bearer token of `/metrics` and of the details of `/health`, 16 characters or more. Not set: `/metrics` is closed, and the details of `/health` need the administrative token.",
    )
    .meta({ env: "WAYGATE_METRICS_TOKEN" }),
  tracing: type
    .oneOf(["off", "restart", "continue"])
    .prefault("off")
    .describe(
      "Whether OpenTelemetry traces are recorded, by the SDK that you load. `continue`: a caller's `traceparent` continues its trace. `restart`: each request begins a linked trace. See docs/operation/tracing.md.",
    )
    .meta({ env: "WAYGATE_TRACING" }),
};
