import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { StatusDot } from "../../components/status-dot.tsx";
import type { Messages } from "../../i18n/locales.ts";
import { healthQuery, monitorQuery } from "./administration-queries.ts";
import { HealthSummary, QueueTable } from "./queue-table.tsx";

type BlockerText = `blockers.${keyof Messages["administration"]["system"]["blockers"]}`;

/** The processes of the gateway, and production checks. */
export function SystemPage() {
  const t = useTranslations("administration.system");
  const monitor = useInfiniteQuery(monitorQuery());
  const report = monitor.data?.pages[0]?.data;
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")} />
      <HealthSummary />
      <Health />
      {monitor.error && <ErrorNotice error={monitor.error} onRetry={() => void monitor.refetch()} />}
      {monitor.isPending && <LoadingState />}
      {report && <Nodes nodes={report.nodes} />}
      {report && <QueueTable queues={report.queues} />}
      <section className="card">
        <h2>{t("operatorTitle")}</h2>
        <p>{t("operatorHelp")}</p>
        <p>{t("globalWebhook")}</p>
        <a href="/docs/waygate/production-readiness">{t("guide")}</a>
      </section>
    </>
  );
}

function Health() {
  const t = useTranslations("administration.system");
  const { data } = useQuery(healthQuery);
  if (!data) return null;
  const parts = [
    { name: t("database"), isUp: data.database === "available" },
    { name: t("sessions"), isUp: data.bridge === "available" },
    { name: t("queue"), isUp: data.queue_store === "available" },
    { name: t("workers"), isUp: data.workers === "available" },
  ];
  return (
    <section className="card">
      <h2>{t("parts")}</h2>
      <ul className="parts" aria-label={t("parts")}>
        {parts.map(({ name, isUp }) => (
          <li key={name} className="pill" data-tone={isUp ? "success" : "danger"}>
            <StatusDot tone={isUp ? "success" : "danger"} />
            {t(isUp ? "works" : "fails", { part: name })}
          </li>
        ))}
      </ul>
      <h2>{t("production")}</h2>
      {data.production_blockers.length === 0 ? (
        <p>{t("noBlocker")}</p>
      ) : (
        <ul className="entries" aria-label={t("production")}>
          {data.production_blockers.map(({ key, message }) => {
            const text = `blockers.${key}` as BlockerText;
            return (
              <li key={key}>
                <p>
                  <span data-tone="warning" className="pill">
                    <StatusDot tone="warning" />
                    {t("blocks")}
                  </span>{" "}
                  {t.has(text) ? t(text) : message}
                </p>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

interface NodesProps {
  nodes: readonly {
    id: string;
    roles: string[];
    url: string | null;
    started_at: string;
    memory_mb: number | null;
  }[];
}

function Nodes({ nodes }: NodesProps) {
  const t = useTranslations("administration");
  return (
    <section className="card">
      <h2>{t("system.nodes", { count: nodes.length })}</h2>
      <ul className="entries" aria-label={t("system.nodeList")}>
        {nodes.map((node) => (
          <li key={node.id}>
            <div>
              <p className="code">{node.id}</p>
              <p>{t("system.roles", { roles: node.roles.join(", ") })}</p>
              <p className="hint">
                {t.rich("system.started", { when: () => <RelativeTime at={node.started_at} /> })}
                {node.memory_mb !== null && ` · ${t("megabytes", { mb: node.memory_mb })}`}
                {node.url !== null && ` · ${node.url}`}
              </p>
            </div>
            <span className="pill" data-tone="success">
              <StatusDot tone="success" />
              {t("system.running")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
