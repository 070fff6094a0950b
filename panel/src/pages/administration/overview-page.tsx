import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { UsageBar } from "../../components/description-list.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { TimePlot } from "../../components/time-plot.tsx";
import { useAccess } from "../../gateway/use-access.ts";
import { hoursQuery, monitorQuery, overviewQuery } from "./administration-queries.ts";
import { INSTANCE_STATUSES } from "./administration-search.ts";
import { HeldWorkNotice } from "./held-work-notice.tsx";
import { HealthSummary } from "./queue-table.tsx";

export function OverviewPage() {
  const t = useTranslations("administration.overview");
  const { may } = useAccess();
  const monitor = useInfiniteQuery(monitorQuery());
  const noc = monitor.data?.pages[0]?.data.noc;
  return (
    <>
      <PageHeader
        title={t(may("owner") ? "title" : "titleReseller")}
        lead={noc && t("lead", { critical: noc.critical, warnings: noc.warnings })}
      />
      {monitor.error && <ErrorNotice error={monitor.error} onRetry={() => void monitor.refetch()} />}
      {noc && noc.severity !== "ok" && (
        <p>
          <Link to="/administration/monitor">{t("toMonitor")}</Link>
        </p>
      )}
      {may("owner") && <HeldWorkNotice />}
      {may("owner") && <HealthSummary />}
      <Figures />
      <div className="columns">
        <StatusBars />
        <LastHours />
      </div>
    </>
  );
}

function Figures() {
  const t = useTranslations("administration.overview");
  const format = useFormatter();
  const { data, error, refetch } = useQuery(overviewQuery);
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const { queue } = data;
  const late = queue.oldest_due_seconds;
  const figures: { key: string; value: number; note: string; to: LinkProps["to"] }[] = [
    {
      key: t("accounts"),
      value: data.accounts,
      note: t("accountsNote", { active: data.active_accounts, resellers: data.resellers }),
      to: "/administration/accounts",
    },
    { key: t("users"), value: data.users, note: t("usersNote"), to: "/administration/accounts" },
    {
      key: t("instances"),
      value: data.instances,
      note: t("instancesNote", { connected: data.connected_instances }),
      to: "/administration/monitor",
    },
    { key: t("messages"), value: data.messages_month, note: t("messagesNote"), to: "/administration/logs" },
    {
      key: t("webhooks"),
      value: data.failed_webhooks,
      note: t("webhooksNote"),
      to: "/administration/monitor",
    },
    {
      key: t("queue"),
      value: queue.waiting,
      note: late === null ? t("queueOnTime") : t("queueLate", { due: queue.due, seconds: late }),
      to: "/administration/monitor",
    },
  ];
  return (
    <ul className="figures" aria-label={t("figures")}>
      {figures.map(({ key, value, note, to }) => (
        <li key={key} className="figure">
          <Link to={to ?? "/administration"}>{key}</Link>
          <strong>{format.number(value)}</strong>
          <span className="hint">{note}</span>
        </li>
      ))}
    </ul>
  );
}

/** Instances by status, with links. */
function StatusBars() {
  const t = useTranslations();
  const { data } = useInfiniteQuery(monitorQuery());
  const metrics = data?.pages[0]?.data.metrics;
  if (!metrics) return null;
  const shown = INSTANCE_STATUSES.filter((status) => (metrics.instances_by_status[status] ?? 0) > 0);
  return (
    <section className="card">
      <h2>{t("administration.overview.byStatus")}</h2>
      {shown.length === 0 && <p className="hint">{t("administration.overview.noInstance")}</p>}
      {shown.map((status) => {
        const count = metrics.instances_by_status[status] ?? 0;
        return (
          <div key={status} className="status-bar">
            <UsageBar
              name={t(`status.${status}`)}
              used={count}
              limit={metrics.instances}
              isPlain
              text={t("administration.overview.ofInstances", { count, total: metrics.instances })}
            />
            <Link
              to="/administration/monitor"
              search={{ status }}
              aria-label={t("administration.overview.showOf", { status: t(`status.${status}`) })}
            >
              {t("administration.overview.show")}
            </Link>
          </div>
        );
      })}
    </section>
  );
}

function LastHours() {
  const t = useTranslations("administration.overview");
  const { signed } = useAccess();
  const { data, error, refetch } = useQuery(hoursQuery);
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { hours } = data;
  const values = (pick: (hour: (typeof hours)[number]) => number) => hours.map(pick);
  return (
    <section className="card">
      <TimePlot
        title={t("hours", { account: signed?.account.name ?? "" })}
        times={hours.map(({ hour }) => new Date(hour))}
        series={[
          { key: "sent", label: t("sent"), tone: "first", values: values(({ sent }) => sent) },
          {
            key: "received",
            label: t("received"),
            tone: "second",
            values: values(({ received }) => received),
          },
          { key: "failed", label: t("failed"), tone: "bad", values: values(({ failed }) => failed) },
        ]}
      />
      {!data.is_complete && <p className="hint">{t("incomplete")}</p>}
    </section>
  );
}
