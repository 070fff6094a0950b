import { useFormatter, useTranslations } from "use-intl";
import { Facts } from "../../components/facts.tsx";
import type { Plan } from "./administration-queries.ts";
import { PLAN_DAYS, PLAN_LIMITS, PLAN_PARTS } from "./plan-limits.ts";

/** The limits and parts of a plan, to read. */
export function PlanFacts({ plan }: { plan: Plan }) {
  const t = useTranslations("administration.plans");
  const format = useFormatter();
  const write = (limit: number | null) => (limit === null ? t("noLimit") : format.number(limit));
  const missing = PLAN_PARTS.filter((part) => plan.features[part] === false);
  const days = PLAN_DAYS.filter((name) => typeof plan.features[name] === "number");
  return (
    <>
      <Facts
        facts={[
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
