import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { FaultNotice, Notice } from "../../components/fault-notice.tsx";
import { healthQuery } from "./administration-queries.ts";

/** Whether the gateway works and is fit for production, in one sentence. */
export function HealthSummary() {
  const t = useTranslations("administration.system");
  const { data, error, refetch } = useQuery(healthQuery);
  if (error) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const count = data.production_blockers.length;
  return (
    <Notice tone={!data.ready ? "stop" : count > 0 ? "wait" : "go"}>
      <p>
        {!data.ready ? t("notReady") : count > 0 ? t("blocked", { count }) : t("allWell")}{" "}
        <Link to="/administration/system">{t("open")}</Link>
      </p>
    </Notice>
  );
}
