import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { StatusDot } from "../../components/status-dot.tsx";
import { useAccess } from "../../gateway/use-access.ts";
import { useFailureCause } from "../instances/use-alert-texts.ts";
import { type Monitor, monitorQuery } from "./administration-queries.ts";
import { AlertList } from "./alert-list.tsx";
import { HeldWorkNotice } from "./held-work-notice.tsx";
import { QueueTable } from "./queue-table.tsx";
import { WatchedInstances } from "./watched-instances.tsx";

/** All parts of the gateway with advice, refreshed every few seconds. */
export function MonitorPage() {
  const t = useTranslations("administration.monitor");
  const { status, account } = useSearch({ from: "/shell/administration/monitor" });
  const { may } = useAccess();
  const query = useInfiniteQuery(monitorQuery({ status, account_id: account }));
  const { data, error, isPending, refetch } = query;
  const report = data?.pages[0]?.data;
  return (
    <>
      <PageHeader
        title={t("title")}
        lead={report && t.rich("asOf", { when: () => <RelativeTime at={report.generated_at} /> })}
      />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {may("owner") && <HeldWorkNotice />}
      {report && (
        <>
          <AlertList alerts={report.alerts} />
          <QueueTable queues={report.queues} />
          <FailingWebhooks webhooks={report.webhooks} />
        </>
      )}
      {data && <WatchedInstances query={query} filter={{ status, account }} />}
    </>
  );
}

/** Webhooks that fail, or were disabled for failing. */
function FailingWebhooks({ webhooks }: Pick<Monitor, "webhooks">) {
  const t = useTranslations("administration.webhooks");
  if (webhooks.length === 0) return null;
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <ul className="entries" aria-label={t("title")}>
        {webhooks.map((webhook) => (
          <FailingWebhook key={webhook.id} webhook={webhook} />
        ))}
      </ul>
    </section>
  );
}

function FailingWebhook({ webhook }: { webhook: Monitor["webhooks"][number] }) {
  const t = useTranslations("administration.webhooks");
  const disabledHelp = useTranslations("alerts.webhook")("disabledHelp");
  const { last_status: status_code, last_error_class: error_class, is_active } = webhook;
  const { sentence, help } = useFailureCause()({ success: false, status_code, error_class });
  return (
    <li>
      <div>
        <p>
          <strong>{webhook.name}</strong>{" "}
          <span className="hint">
            {webhook.account_id === null
              ? t("global")
              : t("of", { account: webhook.account_id, instance: webhook.instance_id ?? 0 })}
          </span>
        </p>
        <p>
          {sentence} {t("missed", { count: webhook.failed_events })}{" "}
          {webhook.failing_since !== null &&
            t.rich("since", { when: () => <RelativeTime at={webhook.failing_since ?? ""} /> })}
        </p>
        <p className="hint">{is_active ? help : disabledHelp}</p>
        {webhook.account_id !== null && (
          <Link
            to="/administration/logs"
            search={{
              type: "webhooks",
              account: webhook.account_id,
              instance: webhook.instance_id ?? undefined,
              result: "bad",
            }}
          >
            {t("log")}
          </Link>
        )}
      </div>
      <span className="pill" data-tone={is_active ? "warning" : "danger"}>
        <StatusDot tone={is_active ? "warning" : "danger"} />
        {t(is_active ? "failing" : "off")}
      </span>
    </li>
  );
}
