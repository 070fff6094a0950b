/** The limits of a plan in the order in which they are shown; each an empty field for none. */
export const PLAN_LIMITS = [
  "max_instances",
  "max_users",
  "max_messages",
  "max_campaigns",
  "max_leads",
  "max_storage_mb",
  "max_accounts",
  "message_rate_limit_per_minute",
  "instance_rate_limit_per_minute",
  "api_rate_limit_per_minute",
] as const;

export const PLAN_DAYS = [
  "media_retention_days",
  "max_message_retention_days",
  "max_campaign_retention_days",
  "max_lead_retention_days",
  "max_event_retention_days",
  "max_log_retention_days",
] as const;

export const PLAN_PARTS = ["campaigns", "crm", "integrations"] as const;

/** The plan of the gateway's owner, which the gateway refuses to change. */
export function isFixedPlan({ name }: { name: string }): boolean {
  return name === "unlimited";
}
