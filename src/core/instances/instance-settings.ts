import type { z } from "zod";
import type { Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { DEFAULT_SETTINGS, type settings, topLevelSettings } from "./contract.ts";

export type InstanceSettings = z.output<typeof settings>;

/** Applies a request's settings, flat or inside `settings`; settings that it does not name stay. */
export function readSettings(
  current: Partial<InstanceSettings>,
  request: { settings?: Partial<InstanceSettings> } & z.output<typeof topLevelSettings>,
): Partial<InstanceSettings> {
  const named = { ...topLevelSettings.parse(request), ...request.settings };
  const requested = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const merged: Partial<InstanceSettings> = { ...current, ...requested };
  const { send_delay_min_ms: min, send_delay_max_ms: max } = { ...DEFAULT_SETTINGS, ...merged };
  if (min > max)
    throw invalidField(
      "settings.send_delay_min_ms",
      `is more than send_delay_max_ms (${max})`,
      "greater_than",
      { other: "send_delay_max_ms", max },
    );
  return merged;
}

/** Throws VALIDATION_ERROR for settings above the limits of the account's plan. */
export async function requireSettingsWithinPlan(
  trx: Trx,
  account_id: number,
  { messages_per_minute: requested }: Partial<InstanceSettings> = {},
): Promise<void> {
  if (typeof requested !== "number") return;
  const plan = await trx
    .selectFrom("account")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .select("plan.message_rate_limit_per_minute as most")
    .where("account.id", "=", account_id)
    .executeTakeFirst();
  if (plan?.most == null || requested <= plan.most) return;
  throw invalidField(
    "settings.messages_per_minute",
    `is more than the plan allows (${plan.most})`,
    "above_plan",
    { max: plan.most },
  );
}
