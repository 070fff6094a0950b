import { statfs } from "node:fs/promises";
import { sql } from "kysely";
import type { Config } from "../../platform/config/config.ts";
import { packageVersion } from "../../platform/config/package-version.ts";
import type { Database, Db } from "../../platform/db/database.ts";
import { findPendingMigrations } from "../../platform/db/find-pending-migrations.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { findBroadEntries } from "../../platform/outgoing/address-policy.ts";
import { hasOtherAccounts } from "../accounts/accounts.ts";
import { type VersionState, versionAgeSeconds } from "../client-version/client-version.ts";
import { reachesThisMachine } from "./check-outgoing-policy.ts";
import type { healthContract } from "./contract.ts";
import { findBackupAge, findWeakSecrets } from "./doctor-checks.ts";
import { countFailedInstances, hasFailedStart } from "./failed-instances.ts";
import { findBlockers } from "./find-blockers.ts";
import { createHealthCheck } from "./health-check.ts";

const NAME = "Waygate";

type SecretName = "adminToken" | "adminTokenSecond" | "metricsToken" | "backupKey";
type PolicyName = "allowedHosts" | "localTargets";

export interface HealthOptions {
  database: Pick<Database, "db">;
  engine: { isSafe(): boolean; hasLiveNode(role: "sessions" | "worker"): Promise<boolean> };
  config: Pick<
    Config,
    "baseUrl" | "queue" | "roles" | "databaseUrl" | "production" | SecretName | PolicyName
  >;
  /** Whether this process has started and is not stopping. */
  readiness: { readonly ready: boolean };
  dataDir: string;
  media?: { store: { readonly isFull: boolean } };
  clientVersion: { state(): VersionState };
}

/** The health of the gateway from its database, engine and disk, checked at most once in two seconds. */
export function healthHandlers(options: HealthOptions): Handlers<typeof healthContract> {
  const checks = createChecks(options);

  async function report(caller: Caller) {
    const isOperator = caller.kind === "admin";
    const isMonitor = caller.kind === "public" && caller.is_monitor === true;
    const findings = await runChecks(checks, options);
    const { skewMs, hasWorker, hasSessionHost } = findings;
    const ready = options.readiness.ready && skewMs !== undefined && options.engine.isSafe();
    const production_blockers = findBlockers(findings, { isOperator });
    const body = {
      ...alive(ready),
      database: availability(skewMs !== undefined),
      bridge: availability(hasSessionHost),
      queue_driver: options.config.queue,
      queue_store: availability(skewMs !== undefined),
      workers: availability(hasWorker),
      ready,
      production_ready: production_blockers.length === 0,
      production_blockers,
      detail: isOperator || isMonitor ? await detail(options, checks) : undefined,
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

type Checks = ReturnType<typeof createChecks>;

function createChecks({ database: { db }, engine, dataDir }: HealthOptions) {
  return {
    skewMs: createHealthCheck(() => measureSkew(db)),
    pendingMigrations: createHealthCheck(() => findPendingMigrations(db)),
    hasWorker: createHealthCheck(() => engine.hasLiveNode("worker")),
    hasSessionHost: createHealthCheck(() => engine.hasLiveNode("sessions")),
    freeDisk: createHealthCheck(() => measureFreeDisk(dataDir)),
    backupAgeMs: createHealthCheck(() => findBackupAge(db)),
    isHoldingBack: createHealthCheck(() => isHoldingBack(db)),
    hasOtherAccounts: createHealthCheck(() => hasOtherAccounts(db)),
    hasFailedStart: createHealthCheck(() => hasFailedStart(db)),
    inventory: createHealthCheck(() => readInventory(db)),
  };
}

async function runChecks(checks: Checks, { config, media }: HealthOptions) {
  const [
    skewMs,
    pendingMigrations,
    hasWorker,
    hasSessionHost,
    freeDisk,
    backupAgeMs,
    heldJobs,
    hasOthers,
    failed,
  ] = await Promise.all([
    checks.skewMs(),
    checks.pendingMigrations(),
    checks.hasWorker(),
    checks.hasSessionHost(),
    checks.freeDisk(),
    checks.backupAgeMs(),
    checks.isHoldingBack(),
    checks.hasOtherAccounts(),
    checks.hasFailedStart(),
  ]);
  const { baseUrl, production: isProduction } = config;
  const isDatabaseEmbedded = config.databaseUrl === undefined;
  return {
    skewMs,
    pendingMigrations,
    hasWorker,
    hasSessionHost,
    freeDisk,
    backupAgeMs,
    hasHeldJobs: heldJobs,
    openTargets: findBroadEntries(config.allowedHosts),
    hasOtherAccounts: hasOthers,
    hasFailedStart: failed,
    weakSecrets: findWeakSecrets(config),
    hasBackupKey: config.backupKey !== undefined,
    baseUrl,
    isDatabaseEmbedded,
    isProduction,
    isMediaStoreFull: media?.store.isFull ?? false,
  };
}

async function measureSkew(db: Db): Promise<number> {
  const askedAt = Date.now();
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const here = (askedAt + Date.now()) / 2;
  return (rows[0]?.now.getTime() ?? Number.POSITIVE_INFINITY) - here;
}

async function isHoldingBack(db: Db): Promise<boolean> {
  const { rows } = await sql`select from held_job limit 1`.execute(db);
  return rows.length > 0;
}

async function measureFreeDisk(directory: string): Promise<number> {
  const { bavail, blocks } = await statfs(directory);
  return bavail / blocks;
}

async function detail({ config, clientVersion }: HealthOptions, { inventory, hasOtherAccounts }: Checks) {
  // An unknown state counts as closed.
  const hasOthers = (await hasOtherAccounts()) ?? true;
  return {
    version: packageVersion(),
    node_version: process.version,
    roles: config.roles,
    outgoing_calls: {
      allowed_hosts: config.allowedHosts,
      this_machine: reachesThisMachine(config, hasOthers),
    },
    client_version: describeVersion(clientVersion.state()),
    database: (await inventory()) ?? null,
  };
}

function describeVersion(state: VersionState) {
  const { found_at } = state;
  return { ...state, found_at: found_at?.toISOString() ?? null, age_seconds: versionAgeSeconds(state) };
}

async function readInventory(db: Db) {
  const { rows } = await sql<{
    version: string;
  }>`select current_setting('server_version') as version`.execute(db);
  const counts = await db
    .selectFrom("instance")
    .select(({ fn }) => [
      fn.countAll<number>().as("instances"),
      fn.countAll<number>().filterWhere("status", "=", "connected").as("connected_instances"),
    ])
    .executeTakeFirstOrThrow();
  const nodes = await db
    .selectFrom("node")
    .select(["id", "roles", "url"])
    .where("dead", "=", false)
    .orderBy("id")
    .execute();
  const failed_instances = await countFailedInstances(db);
  return { version: rows[0]?.version ?? "", ...counts, failed_instances, nodes };
}
