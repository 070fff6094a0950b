import "./home.css";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { StatusPill } from "../../components/status-pill.tsx";
import { FirstRun } from "../instances/first-run.tsx";
import { STATUSES } from "../instances/instances-queries.ts";
import { AlertList } from "./alert-list.tsx";
import { DayPlots } from "./day-plots.tsx";
import { type Overview, overviewQuery } from "./overview-query.ts";

/** What needs a person now, with the act that helps; then the last day. */
export function HomePage() {
  const t = useTranslations();
  const { data, error, refetch } = useQuery(overviewQuery);
  if (!data)
    return (
      <>
        <PageHead title={t("home.title")} />
        {error ? <FaultNotice error={error} onRetry={() => void refetch()} /> : <LoadingState />}
      </>
    );
  const total = Object.values(data.instances_by_status).reduce((sum, count) => sum + count, 0);
  if (total === 0)
    return (
      <>
        <PageHead title={t("instances.emptyTitle")} lead={t("instances.emptyLead")} />
        <FirstRun />
        {data.alerts.length > 0 && <AlertList alerts={data.alerts} />}
      </>
    );
  return (
    <>
      <PageHead title={t("home.title")} lead={<Headline overview={data} total={total} />} />
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      <AlertList alerts={data.alerts} />
      <Statuses counts={data.instances_by_status} />
      <DayPlots overview={data} />
    </>
  );
}

function Headline({
  overview: { alerts, instances_by_status },
  total,
}: {
  overview: Overview;
  total: number;
}) {
  const t = useTranslations();
  const connected = instances_by_status.connected ?? 0;
  return (
    <>
      {t("home.needs", { count: alerts.length })} {t("instances.summary", { total, connected })}
    </>
  );
}

/** Each status leads to its instances. */
function Statuses({ counts }: { counts: Readonly<Record<string, number>> }) {
  const t = useTranslations("home");
  const shown = STATUSES.filter((status) => (counts[status] ?? 0) > 0);
  return (
    <nav className="plate" aria-label={t("byStatus")}>
      <h2>{t("byStatus")}</h2>
      <ul className="status-links">
        {shown.map((status) => (
          <li key={status}>
            <Link to="/instances" search={{ status }}>
              <StatusPill status={status} />
              <strong>{counts[status]}</strong>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
