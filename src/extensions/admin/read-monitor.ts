import { sql } from "kysely";
import { type AccountScope, isInScope } from "../../core/accounts/accounts.ts";
import { type QueueDepth, readQueues } from "../../core/health/health.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import {
  type Alert,
  alertsOfHeldJobs,
  alertsOfNodes,
  alertsOfQueues,
  alertsOfWebhooks,
  findDisconnectedInstances,
  findFailingWebhooks,
  findNearlyFullStorage,
} from "./alerts.ts";
import { type ListMonitoredInstancesOptions, listMonitoredInstances } from "./list-monitored-instances.ts";

export interface MonitorDeps {
  db: Db;
  engine: Pick<Engine, "hasLiveNode">;
}

/** The state of everything that the caller may see, with advice; the size of every part is limited. */
export async function readMonitor(
  { db, engine }: MonitorDeps,
  scope: AccountScope,
  options: ListMonitoredInstancesOptions,
) {
  const { rows: instances, pagination } = await listMonitoredInstances(db, scope, options);
  const queues = await readQueues(db, scope);
  const webhooks = await findFailingWebhooks(db, scope);
  const alerts = [
    ...(scope === undefined
      ? [...alertsOfNodes(await findLive(engine)), ...(await alertsOfHeldJobs(db))]
      : []),
    ...alertsOfWebhooks(webhooks),
    ...(await findDisconnectedInstances(db, scope)),
    ...alertsOfQueues(queues),
    ...(await findNearlyFullStorage(db, scope)),
  ].sort((a, b) => Number(b.severity === "critical") - Number(a.severity === "critical"));
  const metrics = await readMetrics(db, scope, queues);
  const nodes = scope === undefined ? await readNodes(db) : [];
  return {
    report: {
      generated_at: new Date(),
      noc: summarise(alerts),
      metrics,
      queues,
      instances,
      webhooks,
      nodes,
      alerts,
    },
    pagination,
  };
}

const MIB = 1_048_576;

async function readNodes(db: Db) {
  const rows = await db
    .selectFrom("node")
    .select(["id", "roles", "url", "started_at", "memory"])
    .where("dead", "=", false)
    .orderBy("id")
    .execute();
  return rows.map(({ memory, ...node }) => ({
    ...node,
    memory_mb: memory === null ? null : Math.round(memory / MIB),
  }));
}

async function findLive(engine: MonitorDeps["engine"]) {
  const [worker, sessions] = await Promise.all([
    engine.hasLiveNode("worker"),
    engine.hasLiveNode("sessions"),
  ]);
  return { worker, sessions };
}

function summarise(alerts: readonly Alert[]) {
  const critical = alerts.filter(({ severity }) => severity === "critical").length;
  const warnings = alerts.length - critical;
  const [first] = alerts;
  return {
    severity: critical > 0 ? ("critical" as const) : warnings > 0 ? ("warning" as const) : ("ok" as const),
    headline: first ? `${first.message} ${first.recommended_action}` : "All is well.",
    critical,
    warnings,
  };
}

async function readMetrics(db: Db, scope: AccountScope, queues: readonly QueueDepth[]) {
  const seen = isInScope(scope, sql`account_id`);
  const { rows: statuses } = await sql<{ status: string; count: number }>`
    select status, count(*) as count from instance where removed_at is null and ${seen} group by status`.execute(
    db,
  );
  const { rows } = await sql<{ accounts: number; webhooks: number; failing_webhooks: number }>`
    select (select count(*) from account where ${isInScope(scope, sql`id`)}) as accounts, count(*) as webhooks,
      count(*) filter (where failing_since is not null or disabled_at is not null) as failing_webhooks
    from webhook where removed_at is null and ${seen}`.execute(db);
  const instances_by_status = Object.fromEntries(statuses.map(({ status, count }) => [status, count]));
  return {
    ...(rows[0] ?? { accounts: 0, webhooks: 0, failing_webhooks: 0 }),
    instances: statuses.reduce((all, { count }) => all + count, 0),
    connected_instances: instances_by_status.connected ?? 0,
    instances_by_status,
    waiting_jobs: queues.reduce((all, { waiting }) => all + waiting, 0),
  };
}
