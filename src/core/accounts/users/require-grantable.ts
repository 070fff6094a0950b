import type { Trx } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import type { Caller } from "../../../platform/http/handler.ts";
import { isPlanWithin } from "../../plans/plans.ts";
import { resellerOf } from "../access/reseller-of.ts";

export interface GrantContext {
  caller: Caller;
}

interface RequestedAccount {
  /** The account itself, if it exists. */
  id?: number;
  account_type: "owner" | "reseller" | "client";
  plan_id?: number;
  parent_id?: number | null;
}

/**
 * Throws FORBIDDEN or VALIDATION_ERROR unless the caller may grant this type, plan and parent. A reseller
 * grants its own customers plans within its own; only a client can have a parent.
 */
export async function requireGrantable(
  trx: Trx,
  { caller }: GrantContext,
  requested: RequestedAccount,
): Promise<void> {
  const reseller = resellerOf(caller);
  if (reseller !== undefined && requested.account_type !== "client") {
    throw new GatewayError("FORBIDDEN", "A reseller can only have accounts of the type client.");
  }
  if (reseller !== undefined && requested.parent_id !== undefined && requested.parent_id !== reseller) {
    throw new GatewayError("FORBIDDEN", "A reseller cannot move a customer to another parent_id.");
  }
  if (requested.parent_id) await requireReseller(trx, requested.parent_id, requested);
  if (requested.plan_id !== undefined) await requirePlan(trx, requested.plan_id, reseller);
}

async function requireReseller(trx: Trx, parent_id: number, requested: RequestedAccount): Promise<void> {
  if (requested.account_type !== "client" || parent_id === requested.id) {
    throw invalidField("parent_id", "is allowed only for accounts of the type client", "not_allowed_here");
  }
  const parent = await trx
    .selectFrom("account")
    .select("account_type")
    .where("id", "=", parent_id)
    .where("removed_at", "is", null)
    .forKeyShare()
    .executeTakeFirst();
  if (parent?.account_type !== "reseller")
    throw invalidField("parent_id", "must be the id of a reseller's account", "not_found");
}

async function requirePlan(trx: Trx, plan_id: number, reseller: number | undefined): Promise<void> {
  const plan = await trx.selectFrom("plan").selectAll().where("id", "=", plan_id).executeTakeFirst();
  // Plans that a reseller cannot see do not exist for it.
  const isThere = plan && (reseller === undefined || isPlanWithin(plan, await planOf(trx, reseller)));
  if (!isThere)
    throw invalidField("plan_id", "must be the id of a plan that GET /api/admin/plans lists", "not_found");
}

/** Default plan of a reseller's customer: `standard`, or the reseller's own plan if that allows less. */
export async function findDefaultPlan(trx: Trx, { caller }: GrantContext): Promise<number | undefined> {
  const reseller = resellerOf(caller);
  if (reseller === undefined) return undefined;
  const own = await planOf(trx, reseller);
  const standard = await trx
    .selectFrom("plan")
    .selectAll()
    .where("name", "=", "standard")
    .executeTakeFirstOrThrow();
  return isPlanWithin(standard, own) ? standard.id : own.id;
}

function planOf(trx: Trx, account_id: number) {
  return trx
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .selectAll("plan")
    .where("account.id", "=", account_id)
    .executeTakeFirstOrThrow();
}
