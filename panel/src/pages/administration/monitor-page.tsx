import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { useAccess } from "../../api/use-access.ts";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { monitorQuery } from "./administration-queries.ts";
import { AlertList } from "./alert-list.tsx";
import { FailingWebhooks } from "./failing-webhooks.tsx";
import { HeldWorkNotice } from "./held-work-notice.tsx";
import { QueueTable } from "./queue-table.tsx";
import { WatchedInstances } from "./watched-instances.tsx";

/** Everything that runs, with advice for each problem; renews itself every few seconds. */
export function MonitorPage() {
  const t = useTranslations("administration.monitor");
  const { status, account } = useSearch({ from: "/shell/administration/monitor" });
  const { may } = useAccess();
  const query = useInfiniteQuery(monitorQuery({ status, account_id: account }));
  const { data, error, isPending, refetch } = query;
  const report = data?.pages[0]?.data;
  return (
    <>
      <PageHead
        title={t("title")}
        lead={report && t.rich("asOf", { when: () => <RelativeTime at={report.generated_at} /> })}
      />
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
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
