import { sql } from "kysely";
import { type AccountScope, isInScope } from "../../core/accounts/accounts.ts";
import type { QueueDepth } from "../../core/health/health.ts";
import { failureAdvice } from "../../core/webhooks/webhooks.ts";
import type { Db } from "../../platform/db/database.ts";
import { FINDINGS, findingOf } from "../../platform/findings.ts";
import type { InstanceStatus } from "../../tables.ts";
import { readHeldJobs } from "../backups/backups.ts";
import { findStatusFinding } from "./recommend-action.ts";

export interface Alert {
  key: string;
  severity: "warning" | "critical";
  message: string;
  recommended_action: string;
  account_id: number | null;
  instance_id: number | null;
  webhook_id: number | null;
  name: string | null;
  status: string | null;
  error_class: string | null;
  since: Date | null;
}

const MOST_OF_A_KIND = 100;
const NOTHING = {
  account_id: null,
  instance_id: null,
  webhook_id: null,
  name: null,
  status: null,
  error_class: null,
  since: null,
};

interface DisconnectedInstance {
  id: number;
  account_id: number;
  name: string;
  status: InstanceStatus;
  since: Date | null;
}

/** Instances that have been disconnected against the customer's wish for longer than a reconnection lasts. */
export async function findDisconnectedInstances(db: Db, scope: AccountScope): Promise<Alert[]> {
  const { rows } = await sql<DisconnectedInstance>`
    select id, account_id, name, status, disconnected_at as since from instance
    where removed_at is null and ${isInScope(scope, sql`account_id`, sql`id`)} and (
      status in ('logged_out', 'banned', 'error') or (wanted = 'connected' and jid is not null
        and status <> 'connected' and disconnected_at < now() - interval '5 minutes'))
    order by id desc limit ${MOST_OF_A_KIND}`.execute(db);
  return rows.map(({ id, account_id, name, status, since }) => {
    const finding = findingOf(findStatusFinding(status) ?? "instance_disconnected");
    return {
      ...NOTHING,
      key: "instance_lost",
      account_id,
      instance_id: id,
      name,
      status,
      since,
      severity: finding.severity,
      message: `Instance ${id} (${name}) is ${status}.`,
      recommended_action: finding.action,
    };
  });
}

export interface FailingWebhook {
  id: number;
  account_id: number | null;
  instance_id: number | null;
  name: string;
  is_active: boolean;
  failing_since: Date | null;
  failed_events: number;
  last_status: number | null;
  last_error_class: string | null;
  disabled_reason: string | null;
  disabled_at: Date | null;
  recommended_action: string;
}

/** Webhooks that fail or were disabled because they failed, the longest failure first. */
export async function findFailingWebhooks(db: Db, scope: AccountScope): Promise<FailingWebhook[]> {
  const { rows } = await sql<Omit<FailingWebhook, "recommended_action">>`
    select id, account_id, instance_id, name, is_active, failing_since, failed_events, last_status, last_error_class,
      disabled_reason, disabled_at
    from webhook
    where removed_at is null and (failing_since is not null or disabled_at is not null)
      and ${isInScope(scope, sql`account_id`)}
    order by coalesce(disabled_at, failing_since) limit ${MOST_OF_A_KIND}`.execute(db);
  return rows.map((row) => ({ ...row, recommended_action: actionFor(row) }));
}

type WebhookState = Pick<FailingWebhook, "disabled_at" | "last_status" | "last_error_class">;

function actionFor({ disabled_at, last_status, last_error_class }: WebhookState) {
  return disabled_at === null
    ? `${failureAdvice({ status_code: last_status, error_class: last_error_class })} GET .../webhook-logs shows every try.`
    : FINDINGS.webhook_disabled.action;
}

export function alertsOfWebhooks(webhooks: readonly FailingWebhook[]): Alert[] {
  return webhooks.map(({ id, account_id, instance_id, name, recommended_action, ...state }) => ({
    key: "webhook_failing",
    account_id,
    instance_id,
    webhook_id: id,
    name,
    status: state.disabled_at === null ? String(state.last_status ?? "unreachable") : "disabled",
    error_class: state.last_error_class,
    recommended_action,
    severity: state.disabled_at === null ? "warning" : FINDINGS.webhook_disabled.severity,
    message: `Webhook ${id} (${name}) ${stateOf(state)}.`,
    since: state.disabled_at ?? state.failing_since,
  }));
}

function stateOf({ disabled_at, last_status, last_error_class }: WebhookState): string {
  if (disabled_at !== null) return "was disabled";
  if (last_status !== null) return `fails: its receiver responded with ${last_status}`;
  const reason = last_error_class === null ? "" : ` (${last_error_class})`;
  return `fails: no response comes from its receiver${reason}`;
}

/** Instances whose current key was created by the key before it within a week: a program did so, or a thief. */
export async function findRenewedKeys(db: Db, account_id: number): Promise<Alert[]> {
  const { rows } = await sql<{ id: number; name: string; since: Date }>`
    select i.id, i.name, k.created_at as since from api_key k join instance i on i.id = k.instance_id
    where k.is_renewed_by_key and k.account_id = ${account_id} and k.expires_at is null
      and k.created_at > now() - interval '7 days'
    order by k.id desc limit ${MOST_OF_A_KIND}`.execute(db);
  return rows.map(({ id, name, since }) => ({
    ...NOTHING,
    key: "key_renewed",
    severity: FINDINGS.key_renewed.severity,
    account_id,
    instance_id: id,
    name,
    message: `A program has renewed the API key of instance ${id} (${name}) with the key itself.`,
    recommended_action: FINDINGS.key_renewed.action,
    since,
  }));
}

/** Accounts that use almost all of their storage; once it is full, inbound files are no longer stored. */
export async function findNearlyFullStorage(db: Db, scope: AccountScope): Promise<Alert[]> {
  const { rows } = await sql<{ account_id: number; name: string; percent: number; limit: number }>`
    select a.id as account_id, a.name, floor(u.bytes * 100.0 / greatest(p.max_storage_mb * 1048576.0, 1))::int as percent,
      p.max_storage_mb as limit
    from account a join plan p on p.id = a.plan_id and p.max_storage_mb is not null
    cross join lateral (select storage_of(a.id) as bytes) u
    where u.bytes * 100 >= p.max_storage_mb * 1048576::bigint * ${FINDINGS.storage_nearly_full.warnAt}::int and ${isInScope(scope, sql`a.id`)}
    order by u.bytes desc limit ${MOST_OF_A_KIND}`.execute(db);
  return rows.map(({ account_id, name, percent, limit }) => ({
    ...NOTHING,
    key: "storage_nearly_full",
    account_id,
    name,
    status: String(percent),
    severity: severityOf("storage_nearly_full", percent),
    message: `Account ${account_id} (${name}) uses ${percent} % of its ${limit} MB of stored files.`,
    recommended_action: FINDINGS.storage_nearly_full.action,
  }));
}

/** Queues whose oldest due job is overdue for too long. */
export function alertsOfQueues(queues: readonly QueueDepth[]): Alert[] {
  return queues.flatMap(({ name, due, oldest_due_seconds }) => {
    const lag = oldest_due_seconds ?? 0;
    if (lag < FINDINGS.queue_late.warnAt) return [];
    return {
      ...NOTHING,
      key: "queue_late",
      name,
      status: String(lag),
      severity: severityOf("queue_late", lag),
      message: `${due} jobs of the queue ${name} are overdue, the oldest by ${lag} s.`,
      recommended_action: FINDINGS.queue_late.action,
    };
  });
}

/** Jobs that a restored gateway keeps on hold until an operator decides. */
export async function alertsOfHeldJobs(db: Db): Promise<Alert[]> {
  const heldJobs = await readHeldJobs(db);
  if (!heldJobs || heldJobs.sends + heldJobs.deliveries + heldJobs.others === 0) return [];
  const { sends, deliveries, others, action } = heldJobs;
  return [
    {
      ...NOTHING,
      key: "held_back",
      severity: FINDINGS.held_back.severity,
      status: action,
      since: heldJobs.restored_at,
      message: `${sends} sends, ${deliveries} deliveries and ${others} others of the restored backup are on hold.`,
      recommended_action:
        action === null
          ? FINDINGS.held_back.action
          : `It was decided to ${action} them: wait, or see that a node with the role worker runs.`,
    },
  ];
}

/** Roles that no live node has. */
export function alertsOfNodes(live: { worker: boolean; sessions: boolean }): Alert[] {
  const keys = [
    ...(live.worker ? [] : (["no_live_worker"] as const)),
    ...(live.sessions ? [] : (["no_live_session_host"] as const)),
  ];
  return keys.map((key) => {
    const { severity, problem, action } = FINDINGS[key];
    return { ...NOTHING, key, severity, message: problem, recommended_action: action };
  });
}

function severityOf(key: "queue_late" | "storage_nearly_full", value: number): Alert["severity"] {
  return value >= FINDINGS[key].limit ? FINDINGS[key].severity : "warning";
}
