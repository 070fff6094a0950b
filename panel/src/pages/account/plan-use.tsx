import { useFormatter, useTranslations } from "use-intl";
import { Facts } from "../../components/facts.tsx";
import { Lamp } from "../../components/lamp.tsx";
import { UsageBar } from "../../components/usage-bar.tsx";
import { useSizeFormat } from "../../components/use-size-format.ts";
import type { OwnAccount } from "./account-queries.ts";

const MIB = 1_048_576;
const PARTS = ["campaigns", "crm", "integrations"] as const;

/** What the plan allows and what of it is used, as bars and in words. */
export function PlanUse({ account: { plan, used } }: { account: OwnAccount }) {
  const t = useTranslations("account.plan");
  const format = useFormatter();
  const size = useSizeFormat();
  const count = (value: number) => format.number(value);
  const bars = [
    { key: "instances", used: used.instances, limit: plan.max_instances, write: count },
    { key: "users", used: used.users, limit: plan.max_users, write: count },
    {
      key: "storage",
      used: used.storage_bytes,
      limit: plan.max_storage_mb === null ? null : plan.max_storage_mb * MIB,
      write: size,
    },
  ] as const;
  return (
    <section className="plate">
      <h2>{t("title", { plan: plan.name })}</h2>
      <div className="usages">
        {bars.map(({ key, used, limit, write }) => (
          <UsageBar
            key={key}
            name={t(key)}
            used={used}
            limit={limit}
            text={
              limit === null
                ? t("usedFreely", { used: write(used) })
                : t("usedOf", { used: write(used), limit: write(limit) })
            }
          />
        ))}
      </div>
      <Limits plan={plan} />
      <ul className="parts" aria-label={t("parts")}>
        {PARTS.map((part) => {
          const isIn = plan.features[part] !== false;
          return (
            <li key={part} data-tone={isIn ? "go" : "rest"} className="pill">
              <Lamp tone={isIn ? "go" : "rest"} />
              {t(isIn ? "included" : "notIncluded", { part: t(part) })}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Limits({ plan }: Pick<OwnAccount, "plan">) {
  const t = useTranslations("account.plan");
  const write = (limit: number | null, unit: "aMonth" | "aMinute" | "each") =>
    limit === null ? t("noLimit") : t(unit, { limit });
  return (
    <Facts
      facts={[
        { name: t("messages"), value: write(plan.max_messages, "aMonth") },
        { name: t("maxCampaigns"), value: write(plan.max_campaigns, "each") },
        { name: t("maxLeads"), value: write(plan.max_leads, "each") },
        { name: t("rateMessages"), value: write(plan.message_rate_limit_per_minute, "aMinute") },
        { name: t("rateInstance"), value: write(plan.instance_rate_limit_per_minute, "aMinute") },
        { name: t("rateApi"), value: write(plan.api_rate_limit_per_minute, "aMinute") },
      ]}
    />
  );
}
