import { useFormatter, useTranslations } from "use-intl";
import { DescriptionList } from "../../components/description-list.tsx";
import type { Plan } from "./administration-queries.ts";

export function PlanFacts({ plan }: { plan: Plan }) {
  const t = useTranslations("administration.plans");
  const format = useFormatter();
  const write = (limit: number | null) => (limit === null ? t("noLimit") : format.number(limit));
  const missing = PLAN_PARTS.filter((part) => plan.features[part] === false);
  const days = PLAN_DAYS.filter((name) => typeof plan.features[name] === "number");
  return (
    <>
      <DescriptionList
        items={[
          { name: t("price"), value: format.number(plan.price) },
          ...PLAN_LIMITS.map((name) => ({ name: t(`limits.${name}`), value: write(plan[name]) })),
          ...days.map((name) => ({
            name: t(`limits.${name}`),
            value: t("days", { days: plan.features[name] ?? 0 }),
          })),
        ]}
      />
      <p className="hint">
        {missing.length === 0
          ? t("allParts")
          : t("withoutParts", { parts: format.list(missing.map((part) => t(`parts.${part}`))) })}
      </p>
    </>
  );
}

/** In display order; an empty field means no limit. */
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

/** The owner's plan cannot be changed. */
export function isFixedPlan({ name }: { name: string }): boolean {
  return name === "unlimited";
}
