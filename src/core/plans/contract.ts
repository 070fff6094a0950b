import { z } from "zod";
import {
  pagination,
  removedRow,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { trimmedText } from "../../platform/text/bounded-text.ts";

const shownLimit = z.number().int().nullable().describe("null: no limit.");

export const planLimits = z.object({
  max_instances: shownLimit,
  max_users: shownLimit,
  max_messages: shownLimit.describe("Limit per month; null: no limit."),
  max_campaigns: shownLimit,
  max_leads: shownLimit,
  max_storage_mb: shownLimit.describe("Stored files, in units of 1,048,576 bytes; null: no limit."),
  api_rate_limit_per_minute: shownLimit,
  instance_rate_limit_per_minute: shownLimit,
  message_rate_limit_per_minute: shownLimit,
});

const limit = z.number().int().min(0).max(2_147_483_647).nullable();

/** Whole days; null: no limit. */
export const retentionDays = z.number().int().min(1).max(3650).nullable();

const ceiling = (what: string) =>
  retentionDays.optional().describe(`${what} are deleted after at most this many days; null: no limit.`);

export const features = named(
  "PlanFeatures",
  z
    .object({
      campaigns: z.boolean().optional(),
      crm: z.boolean().optional(),
      integrations: z.boolean().optional(),
      media_retention_days: retentionDays
        .optional()
        .describe(
          "Days for which files are stored, unless the instance sets another time; null: the gateway's default.",
        ),
      max_message_retention_days: ceiling("Messages of the account"),
      max_campaign_retention_days: ceiling("Campaigns that have ended"),
      max_lead_retention_days: ceiling("Leads without a change or a message"),
      max_event_retention_days: ceiling("Events"),
      max_log_retention_days: ceiling("Logs of requests, connections and deliveries"),
    })
    .describe("`false` disables a feature; omitted features are included."),
);

/** A strict object, since an unknown feature would otherwise be dropped silently. */
const newFeatures = named("NewPlanFeatures", z.strictObject(features.shape));

const plan = named(
  "Plan",
  planLimits.extend({
    max_accounts: shownLimit.describe("Customers of a reseller; null: no limit."),
    id: z.number().int(),
    name: z.string(),
    price: z.number(),
    features,
  }),
);

const planFields = {
  price: z.number().min(0).max(9_999_999_999),
  max_instances: limit,
  max_users: limit,
  max_messages: limit,
  max_campaigns: limit,
  max_leads: limit,
  max_storage_mb: limit,
  max_accounts: limit,
  api_rate_limit_per_minute: limit,
  instance_rate_limit_per_minute: limit,
  message_rate_limit_per_minute: limit,
  features: newFeatures,
};

const planName = trimmedText(60).min(1);

const tag = "Administration";

export const plansContract = {
  listPlans: route({
    http: "GET /api/admin/plans",
    access: "manager",
    tag,
    summary: "List the plans; a reseller sees those that it can assign",
    message: "Plans",
    aliases: searchAliases,
    input: z.object(searchInput),
    output: z.array(plan),
    beside: z.object({ pagination }),
  }),
  createPlan: route({
    http: "POST /api/admin/plans",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "owner",
    tag,
    summary: "Create a plan; an omitted limit means no limit",
    message: "Plan created",
    example: { name: "Small" },
    input: z.object({ name: planName, ...z.object(planFields).partial().shape }),
    output: plan,
  }),
  updatePlan: route({
    http: "PATCH /api/admin/plans/:id",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "owner",
    tag,
    summary: "Change a plan, for all accounts that have it; takes effect within 5 seconds",
    message: "Plan updated",
    example: { name: "Small" },
    input: z.object({ id: rowId, name: planName.optional(), ...z.object(planFields).partial().shape }),
    output: plan,
  }),
  deletePlan: route({
    http: "DELETE /api/admin/plans/:id",
    acts: { irreversible: true },
    errors: ["CONFLICT"],
    access: "owner",
    tag,
    summary: "Delete a plan that no account uses",
    description:
      "A plan that accounts use returns 409 `CONFLICT` with their number: give them another plan first. `unlimited` and `standard` cannot be deleted.",
    message: "Plan deleted",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),
};
