import "./home.css";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { StatusDot, StatusPill } from "../../components/status-dot.tsx";
import { type SeriesTone, TimePlot } from "../../components/time-plot.tsx";
import { FirstRun } from "../instances/first-run.tsx";
import { STATUSES } from "../instances/instances-queries.ts";
import { type Alert, type Overview, overviewQuery, useAlertTexts } from "../instances/use-alert-texts.ts";

export function HomePage() {
  const t = useTranslations();
  const { data, error, refetch } = useQuery(overviewQuery);
  if (!data)
    return (
      <>
        <PageHeader title={t("home.title")} />
        {error ? <ErrorNotice error={error} onRetry={() => void refetch()} /> : <LoadingState />}
      </>
    );
  const total = Object.values(data.instances_by_status).reduce((sum, count) => sum + count, 0);
  if (total === 0)
    return (
      <>
        <PageHeader title={t("instances.emptyTitle")} lead={t("instances.emptyLead")} />
        <FirstRun />
        {data.alerts.length > 0 && <AlertList alerts={data.alerts} />}
      </>
    );
  return (
    <>
      <PageHeader title={t("home.title")} lead={<Headline overview={data} total={total} />} />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
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
      {t("home.needs", { count: groupAlerts(alerts).length })} {t("instances.summary", { total, connected })}
    </>
  );
}

function Statuses({ counts }: { counts: Readonly<Record<string, number>> }) {
  const t = useTranslations("home");
  const shown = STATUSES.filter((status) => (counts[status] ?? 0) > 0);
  return (
    <nav className="card" aria-label={t("byStatus")}>
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

type Hour = Overview["hours"][number];

function DayPlots({ overview: { hours, is_complete } }: { overview: Overview }) {
  const t = useTranslations("home");
  return (
    <section className="stack" aria-label={t("lastDay")}>
      <h2>{t("lastDay")}</h2>
      {!is_complete && <p className="hint">{t("incomplete")}</p>}
      <div className="plots">
        <HoursPlot
          title={t("messages")}
          empty={t("noMessages")}
          hours={hours}
          series={[
            { key: "sent", label: t("sent"), tone: "first" },
            { key: "received", label: t("received"), tone: "second" },
            { key: "failed", label: t("failed"), tone: "bad" },
          ]}
          sentence={({ sent = "", received = "", failed = "" }) =>
            t("messagesSum", { sent, received, failed })
          }
        />
        <HoursPlot
          title={t("deliveries")}
          empty={t("noDeliveries")}
          hours={hours}
          series={[
            { key: "delivered", label: t("delivered"), tone: "first" },
            { key: "failed_attempts", label: t("attempts"), tone: "bad" },
          ]}
          sentence={({ delivered = "", failed_attempts: failed = "" }) =>
            t("deliveriesSum", { delivered, failed })
          }
        />
      </div>
    </section>
  );
}

interface HoursPlotProps {
  title: string;
  /** Shown instead of a chart without values. */
  empty: string;
  hours: readonly Hour[];
  series: readonly { key: Exclude<keyof Hour, "hour">; label: string; tone: SeriesTone }[];
  /** The sums by key as a sentence. */
  sentence(sums: Partial<Record<string, string>>): string;
}

function HoursPlot({ title, empty, hours, series, sentence }: HoursPlotProps) {
  const format = useFormatter();
  const shown = series.map((one) => ({ ...one, values: hours.map((hour) => hour[one.key]) }));
  const sums = shown.map(({ key, values }) => ({ key, sum: values.reduce((all, value) => all + value, 0) }));
  if (sums.every(({ sum }) => sum === 0))
    return (
      <div className="card">
        <h3>{title}</h3>
        <p className="hint">{empty}</p>
      </div>
    );
  return (
    <div className="card">
      <TimePlot title={title} times={hours.map(({ hour }) => new Date(hour))} series={shown} />
      <p>{sentence(Object.fromEntries(sums.map(({ key, sum }) => [key, format.number(sum)])))}</p>
    </div>
  );
}

/** More would hide the rest of the page. */
const SHOWN = 8;

/** Alerts with their remedies, the most severe first. */
function AlertList({ alerts }: { alerts: readonly Alert[] }) {
  const t = useTranslations("home");
  if (alerts.length === 0)
    return (
      <Notice tone="success">
        <p>{t("allWell")}</p>
      </Notice>
    );
  const groups = groupAlerts(alerts);
  const hidden = groups.length - SHOWN;
  return (
    <section aria-label={t("attention")} className="stack">
      <h2>{t("attention")}</h2>
      <ul className="alerts">
        {groups.slice(0, SHOWN).map(({ cause, alert, others }) => (
          <AlertItem key={cause} alert={alert} others={others} />
        ))}
      </ul>
      {hidden > 0 && (
        <div className="buttons">
          <p>{t("more", { count: hidden })}</p>
          <LinkButton to="/instances">{t("showInstances")}</LinkButton>
        </div>
      )}
    </section>
  );
}

interface AlertGroup {
  cause: string;
  alert: Alert;
  /** Alerts with the same cause. */
  others: Alert[];
}

/** Groups alerts by cause, because one outage can stop many webhooks or instances. */
function groupAlerts(alerts: readonly Alert[]): AlertGroup[] {
  const groups = new Map<string, AlertGroup>();
  for (const alert of alerts) {
    const { key, severity, status, error_class } = alert;
    const cause = `${key} ${severity} ${status} ${error_class}`;
    const known = groups.get(cause);
    if (known) known.others.push(alert);
    else groups.set(cause, { cause, alert, others: [] });
  }
  return [...groups.values()];
}

function AlertItem({ alert, others }: Omit<AlertGroup, "cause">) {
  const t = useTranslations("home");
  const { sentence, help } = useAlertTexts({ isOfOthers: false })(alert);
  const tone = alert.severity === "critical" ? "danger" : "warning";
  return (
    <li className="alert" data-tone={tone}>
      <div>
        <p className="alert-sentence">
          <StatusDot tone={tone} />
          <span>{sentence}</span>
        </p>
        <p>{help}</p>
        {alert.since && (
          <p className="hint">{t.rich("since", { when: () => <RelativeTime at={alert.since ?? ""} /> })}</p>
        )}
        {others.length > 0 && (
          <details>
            <summary>{t("sameCause", { count: others.length })}</summary>
            <ul className="same-cause">
              {others.map((other) => (
                <li key={`${other.instance_id} ${other.webhook_id}`}>
                  <OtherAlert alert={other} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <HelpingAct alert={alert} />
    </li>
  );
}

function OtherAlert({ alert: { key, instance_id: id, name } }: { alert: Alert }) {
  const text = <bdi>{name}</bdi>;
  if (id === null) return text;
  return (
    <Link to={key === "webhook_failing" ? "/instances/$id/webhooks" : "/instances/$id"} params={{ id }}>
      {text}
    </Link>
  );
}

const LINKABLE = new Set(["logged_out", "created", "qr_expired"]);

function HelpingAct({ alert: { key, instance_id: id, status, name } }: { alert: Alert }) {
  const t = useTranslations("home");
  const label = (text: string) => ({
    children: text,
    "aria-label": name === null ? text : `${text}: ${name}`,
  });
  if (id === null) return <LinkButton to="/account">{t("openAccount")}</LinkButton>;
  const params = { id };
  if (key === "webhook_failing")
    return <LinkButton to="/instances/$id/webhooks" params={params} {...label(t("openWebhooks"))} />;
  if (status !== null && LINKABLE.has(status))
    return <LinkButton to="/instances/$id/link" params={params} {...label(t("linkAgain"))} />;
  return <LinkButton to="/instances/$id" params={params} {...label(t("openInstance"))} />;
}
