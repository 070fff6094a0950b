import { sql } from "kysely";
import { Gauge, type Registry } from "prom-client";
import type { Database, Db } from "../../platform/db/database.ts";
import { instanceStatus } from "../instances/contract.ts";
import type { HealthChecks } from "./create-health-checks.ts";
import { BLOCKER_KEYS, findBlockers } from "./find-blockers.ts";
import { createHealthCheck } from "./health-check.ts";

export interface HealthMetricsOptions {
  database: Pick<Database, "db">;
  engine: { countLiveNodes(role: string): number };
  checks: HealthChecks;
  /** The pending jobs of the whole gateway. */
  readQueues(): Promise<QueueDepth[]>;
}

interface QueueDepth {
  name: string;
  waiting: number;
  due: number;
  oldest_due_seconds: number | null;
}

const ROLES = ["api", "sessions", "worker"];
const WEBHOOK_STATES = ["working", "failing", "disabled"] as const;

/** Adds the state of this node and of the whole gateway; what cannot be read is absent. */
export function registerHealthMetrics(registry: Registry, options: HealthMetricsOptions): void {
  const { db } = options.database;
  addNodeGauges(registry, options);
  const instances = createHealthCheck(() => countInstances(db));
  addGauge(registry, {
    name: "waygate_instances",
    help: "Instances of the whole gateway, by status",
    labels: ["status"],
    read: async () => tallies("status", instanceStatus.options, await instances()),
  });
  const webhooks = createHealthCheck(() => countWebhooks(db));
  addGauge(registry, {
    name: "waygate_webhooks",
    help: "Webhooks of the whole gateway: working, failing, or disabled by the gateway after days of failures",
    labels: ["state"],
    read: async () => tallies("state", WEBHOOK_STATES, await webhooks()),
  });
  addQueueGauges(registry, options.readQueues);
}

function addNodeGauges(registry: Registry, { checks, engine }: HealthMetricsOptions): void {
  addGauge(registry, {
    name: "waygate_node_ready",
    help: "1 if this node is ready, as /health/ready reports it, otherwise 0",
    read: async () => [{ value: Number(checks.isReady(await checks.run())) }],
  });
  addGauge(registry, {
    name: "waygate_database_available",
    help: "1 if the database responds to this node within one second, otherwise 0",
    read: async () => [{ value: Number((await checks.run()).skewMs !== undefined) }],
  });
  addGauge(registry, {
    name: "waygate_data_volume_free_ratio",
    help: "Free share of the volume of this node's data directory, 0 to 1",
    read: async () => single((await checks.run()).freeDisk),
  });
  addGauge(registry, {
    name: "waygate_production_blocker",
    help: "1 for each problem that /health lists under production_blockers, otherwise 0",
    labels: ["key"],
    async read() {
      const found = new Set(findBlockers(await checks.run(), { isOperator: true }).map(({ key }) => key));
      return BLOCKER_KEYS.map((key) => ({ labels: { key }, value: Number(found.has(key)) }));
    },
  });
  addGauge(registry, {
    name: "waygate_nodes",
    help: "Running nodes that this node knows, by role, itself included",
    labels: ["role"],
    read: async () => ROLES.map((role) => ({ labels: { role }, value: engine.countLiveNodes(role) })),
  });
  addGauge(registry, {
    name: "waygate_backup_age_seconds",
    help: "Time since the last verified backup, or since the installation if there is none",
    read: async () => single(inSeconds((await checks.run()).backupAgeMs)),
  });
}

function addQueueGauges(registry: Registry, readQueues: HealthMetricsOptions["readQueues"]): void {
  const queues = createHealthCheck(readQueues);
  const add = (name: string, help: string, readValue: (queue: QueueDepth) => number) =>
    addGauge(registry, {
      name,
      help,
      labels: ["queue"],
      read: async () =>
        ((await queues()) ?? []).map((queue) => ({ labels: { queue: queue.name }, value: readValue(queue) })),
    });
  add("waygate_queue_jobs", "Pending jobs of the whole gateway, by queue", ({ waiting }) => waiting);
  add("waygate_queue_due_jobs", "Pending jobs whose time has come, by queue", ({ due }) => due);
  add(
    "waygate_queue_oldest_due_seconds",
    "How long the oldest job whose time has come has been pending, by queue",
    ({ oldest_due_seconds: seconds }) => seconds ?? 0,
  );
}

interface Sample {
  labels?: Record<string, string>;
  value: number;
}

interface GaugeOptions {
  name: string;
  help: string;
  labels?: string[];
  read(): Promise<Sample[]>;
}

function addGauge(registry: Registry, { name, help, labels: labelNames = [], read }: GaugeOptions): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const samples = await read();
      if (labelNames.length > 0) this.reset();
      else this.remove();
      for (const { labels = {}, value } of samples) this.set(labels, value);
    },
  });
}

function single(value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ value }];
}

const inSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

/** One sample for each known value of the label, 0 where nothing was counted. */
function tallies(
  label: string,
  known: readonly string[],
  counts: ReadonlyMap<string, number> | undefined,
): Sample[] {
  return counts ? known.map((one) => ({ labels: { [label]: one }, value: counts.get(one) ?? 0 })) : [];
}

async function countInstances(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("instance")
    .select(({ fn }) => ["status", fn.countAll<number>().as("count")])
    .where("removed_at", "is", null)
    .groupBy("status")
    .execute();
  return new Map(rows.map(({ status, count }) => [status, count]));
}

async function countWebhooks(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ state: (typeof WEBHOOK_STATES)[number]; count: number }>`
    select case when disabled_at is not null then 'disabled' when failing_since is not null then 'failing'
      else 'working' end as state, count(*) as count
    from webhook where removed_at is null and (is_active or disabled_at is not null) group by 1`.execute(db);
  return new Map(rows.map(({ state, count }) => [state, count]));
}
