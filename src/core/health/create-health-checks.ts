import { statfs } from "node:fs/promises";
import { sql } from "kysely";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Db } from "../../platform/db/database.ts";
import { findPendingMigrations } from "../../platform/db/find-pending-migrations.ts";
import { findBroadEntries } from "../../platform/outgoing/address-policy.ts";
import { hasOtherAccounts } from "../accounts/accounts.ts";
import { remainingSeconds, type VersionState } from "../client-version/client-version.ts";
import { findWeakSecrets } from "./doctor-checks.ts";
import { countFailedInstances, hasFailedStart, hasWithheldQueue } from "./failed-instances.ts";
import type { ExtensionFindings, ReadinessFindings } from "./find-blockers.ts";
import { createHealthCheck } from "./health-check.ts";

type SecretName = "adminToken" | "adminTokenSecond" | "metricsToken" | "backupKey";
type PolicyName = "allowedHosts" | "localTargets";

export interface HealthCheckOptions {
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
  hooks: { findings: readonly ExtensionFindings[] };
}

export type HealthChecks = ReturnType<typeof createHealthChecks>;

/** The checks of database, engine and disk, each of which runs at most once in two seconds. */
export function createHealthChecks(options: HealthCheckOptions) {
  const { engine, readiness } = options;
  const checks = cachedChecks(options);
  return {
    run: () => runChecks(checks, options),
    inventory: checks.inventory,
    hasOtherAccounts: checks.hasOtherAccounts,
    /** Whether this process accepts requests, by these findings. */
    isReady: ({ skewMs }: ReadinessFindings) => readiness.ready && skewMs !== undefined && engine.isSafe(),
  };
}

function cachedChecks({ database: { db }, engine, dataDir, hooks }: HealthCheckOptions) {
  return {
    skewMs: createHealthCheck(() => measureSkew(db)),
    pendingMigrations: createHealthCheck(() => findPendingMigrations(db)),
    hasWorker: createHealthCheck(() => engine.hasLiveNode("worker")),
    hasSessionHost: createHealthCheck(() => engine.hasLiveNode("sessions")),
    freeDisk: createHealthCheck(() => measureFreeDisk(dataDir)),
    ofExtensions: hooks.findings.map(({ read }) => createHealthCheck(read)),
    hasOtherAccounts: createHealthCheck(() => hasOtherAccounts(db)),
    hasFailedStart: createHealthCheck(() => hasFailedStart(db)),
    hasWithheldQueue: createHealthCheck(() => hasWithheldQueue(db)),
    inventory: createHealthCheck(() => readInventory(db)),
  };
}

async function runChecks(
  checks: ReturnType<typeof cachedChecks>,
  { config, media, clientVersion, hooks }: HealthCheckOptions,
): Promise<ReadinessFindings> {
  const [
    skewMs,
    pendingMigrations,
    hasWorker,
    hasSessionHost,
    freeDisk,
    hasOthers,
    failed,
    withheld,
    ...ofExtensions
  ] = await Promise.all([
    checks.skewMs(),
    checks.pendingMigrations(),
    checks.hasWorker(),
    checks.hasSessionHost(),
    checks.freeDisk(),
    checks.hasOtherAccounts(),
    checks.hasFailedStart(),
    checks.hasWithheldQueue(),
    ...checks.ofExtensions.map((check) => check()),
  ]);
  return {
    skewMs,
    pendingMigrations,
    hasWorker,
    hasSessionHost,
    freeDisk,
    openTargets: findBroadEntries(config.allowedHosts),
    hasOtherAccounts: hasOthers,
    hasFailedStart: failed,
    hasWithheldQueue: withheld,
    clientVersionRemainingSeconds: remainingSeconds(clientVersion.state()),
    weakSecrets: findWeakSecrets(config),
    baseUrl: config.baseUrl,
    isDatabaseEmbedded: config.databaseUrl === undefined,
    isProduction: config.production,
    isMediaStoreFull: media?.store.isFull ?? false,
    ...Object.assign({}, ...hooks.findings.map(({ known }) => known), ...ofExtensions),
  };
}

async function measureSkew(db: Db): Promise<number> {
  const askedAt = Date.now();
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const here = (askedAt + Date.now()) / 2;
  return (rows[0]?.now.getTime() ?? Number.POSITIVE_INFINITY) - here;
}

async function measureFreeDisk(directory: string): Promise<number> {
  const { bavail, blocks } = await statfs(directory);
  return bavail / blocks;
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
