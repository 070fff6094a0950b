import type { Selectable } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { PLAN_FEATURES } from "../../platform/http/route.ts";
import type { PlanTable } from "../../tables.ts";

/** The limits of a plan that are numbers of objects. */
export type PlanLimit = Exclude<Extract<keyof PlanTable, `max_${string}`>, "max_storage_mb">;

const THINGS: Record<PlanLimit, string> = {
  max_instances: "instances",
  max_users: "users",
  max_messages: "messages a month",
  max_campaigns: "campaigns",
  max_leads: "leads",
  max_accounts: "customers",
};

const LIMITS = [
  "max_instances",
  "max_users",
  "max_messages",
  "max_campaigns",
  "max_leads",
  "max_storage_mb",
  "api_rate_limit_per_minute",
  "instance_rate_limit_per_minute",
  "message_rate_limit_per_minute",
] as const;

type Allowance = Pick<Selectable<PlanTable>, "id" | "features" | (typeof LIMITS)[number]>;

/** How long an account's data are stored. Without a value the plan sets no limit. */
const RETENTION_KINDS = ["message", "campaign", "lead", "event", "log"] as const;
export type RetentionKind = (typeof RETENTION_KINDS)[number];
const RETENTIONS = [
  "media_retention_days",
  ...RETENTION_KINDS.map((kind) => `max_${kind}_retention_days` as const),
] as const;

/** Whether a plan allows at most what another one allows. */
export function isPlanWithin(plan: Allowance, other: Allowance): boolean {
  const hasLess =
    LIMITS.every((limit) => (plan[limit] ?? Infinity) <= (other[limit] ?? Infinity)) &&
    RETENTIONS.every((days) => daysOf(plan, days) <= daysOf(other, days));
  const lacks = (of: Allowance, feature: string) => of.features[feature] === false;
  return hasLess && PLAN_FEATURES.every((feature) => !lacks(other, feature) || lacks(plan, feature));
}

function daysOf({ features }: Allowance, retention: (typeof RETENTIONS)[number]): number {
  return Number(features[retention] ?? Infinity);
}

export interface PlanQuotaRequest {
  account_id: number;
  limit: PlanLimit;
  /** Number of new objects. Default: 1. */
  requested?: number;
  /** Returns the current number; called only if the plan has a limit. */
  count(trx: Trx): Promise<number>;
}

/**
 * Throws QUOTA_EXCEEDED if the remaining quota is too small. Locks the account's row until the commit, so
 * that concurrent requests cannot both use the last of it.
 */
export async function requirePlanQuota(trx: Trx, request: PlanQuotaRequest): Promise<void> {
  const { limit, requested = 1 } = request;
  const { most, used } = await readPlanQuota(trx, request);
  if (used + requested <= most) return;
  throw new GatewayError("QUOTA_EXCEEDED", quotaExceededMessage(limit, most), {
    details: { quota: limit, limit: most, used, left: Math.max(0, most - used) },
  });
}

export function quotaExceededMessage(limit: PlanLimit, most: number): string {
  return `The plan allows ${most} ${THINGS[limit]}.`;
}

/** The limit, and the current number if there is a limit. Locks the account's row until the commit. */
export async function readPlanQuota(
  trx: Trx,
  request: PlanQuotaRequest,
): Promise<{ most: number; used: number }> {
  const plan = await trx
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .select(`plan.${request.limit} as most`)
    .where("account.id", "=", request.account_id)
    .where("account.removed_at", "is", null)
    .forNoKeyUpdate("account")
    .executeTakeFirst();
  if (!plan) throw new GatewayError("NOT_FOUND", "There is no such account.");
  if (plan.most === null) return { most: Number.POSITIVE_INFINITY, used: 0 };
  return { most: plan.most, used: await request.count(trx) };
}

/** The first day of the current month in UTC, which is the key of the message counters. */
export function currentMonth(now = new Date()): string {
  return `${now.toISOString().slice(0, 7)}-01`;
}

/** When the message counters restart. */
export function nextMonthStart(now = new Date()): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
