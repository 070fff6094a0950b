import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { packageVersion } from "../../platform/package-version.ts";
import { type VersionState, versionAgeSeconds } from "../client-version/client-version.ts";
import { reachesThisMachine } from "./check-outgoing-policy.ts";
import type { healthContract } from "./contract.ts";
import type { HealthCheckOptions, HealthChecks } from "./create-health-checks.ts";
import { findBlockers } from "./find-blockers.ts";

export type { DoctorFinding } from "./doctor-checks.ts";
export type { ReadinessFindings } from "./find-blockers.ts";
export { type QueueDepth, readQueues } from "./read-queues.ts";

const NAME = "Waygate";

export interface HealthOptions {
  config: HealthCheckOptions["config"];
  checks: HealthChecks;
  clientVersion: { state(): VersionState };
}

/** The health of the gateway by the checks of its database, engine and disk. */
export function healthHandlers(options: HealthOptions): Handlers<typeof healthContract> {
  const { checks, config } = options;

  async function report(caller: Caller) {
    const isOperator = caller.kind === "admin";
    const isMonitor = caller.kind === "public" && caller.is_monitor === true;
    const findings = await checks.run();
    const { skewMs, hasWorker, hasSessionHost } = findings;
    const ready = checks.isReady(findings);
    const production_blockers = findBlockers(findings, { isOperator });
    const body = {
      ...alive(ready),
      database: availability(skewMs !== undefined),
      bridge: availability(hasSessionHost),
      queue_driver: config.queue,
      queue_store: availability(skewMs !== undefined),
      workers: availability(hasWorker),
      ready,
      production_ready: production_blockers.length === 0,
      production_blockers,
      detail: isOperator || isMonitor ? await detail(options) : undefined,
    };
    return new OkResponse(body, { status: ready ? 200 : 503 });
  }

  return {
    health: ({ caller }) => report(caller),
    healthReady: ({ caller }) => report(caller),
    healthLive: async () => alive(true),
  };
}

function alive(ok: boolean) {
  return { success: ok, ok, name: NAME, status: availability(ok), timestamp: new Date().toISOString() };
}

function availability(is: boolean | undefined): "available" | "unavailable" {
  return is ? "available" : "unavailable";
}

async function detail({ config, clientVersion, checks }: HealthOptions) {
  // An unknown state counts as closed.
  const hasOthers = (await checks.hasOtherAccounts()) ?? true;
  return {
    version: packageVersion(),
    node_version: process.version,
    roles: config.roles,
    outgoing_calls: {
      allowed_hosts: config.allowedHosts,
      this_machine: reachesThisMachine(config, hasOthers),
    },
    client_version: describeVersion(clientVersion.state()),
    database: (await checks.inventory()) ?? null,
  };
}

function describeVersion(state: VersionState) {
  const { found_at, expires_at } = state;
  return {
    ...state,
    found_at: found_at?.toISOString() ?? null,
    age_seconds: versionAgeSeconds(state),
    expires_at: expires_at?.toISOString() ?? null,
  };
}
