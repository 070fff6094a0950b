import "./instances.css";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { useAccess } from "../../api/use-access.ts";
import { LinkButton } from "../../components/action-button.tsx";
import { Blank } from "../../components/blank.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { overviewQuery } from "../home/overview-query.ts";
import { FirstRun } from "./first-run.tsx";
import { InstanceFilterBar } from "./instance-filter-bar.tsx";
import { InstanceRows } from "./instance-rows.tsx";
import { type InstanceFilter, instanceListQuery } from "./instances-queries.ts";

export function InstancesPage() {
  const t = useTranslations("instances");
  const filter = useSearch({ from: "/shell/instances" });
  const navigate = useNavigate({ from: "/instances" });
  const change = (search: InstanceFilter) => void navigate({ search, replace: true, resetScroll: false });
  const mayManage = useAccess().may("admin");
  const query = useInfiniteQuery(instanceListQuery(filter));
  const counts = useQuery(overviewQuery).data?.instances_by_status;
  const { data, error, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isFiltered = filter.status !== undefined || filter.search !== undefined;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  const total = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <PageHead
        title={isEmpty ? t("emptyTitle") : t("title")}
        lead={
          isEmpty
            ? t("emptyLead")
            : counts && total > 0 && t("summary", { total, connected: counts.connected ?? 0 })
        }
      >
        {!isEmpty && data && mayManage && (
          <LinkButton to="/instances/new" kind="main">
            {t("create")}
          </LinkButton>
        )}
      </PageHead>
      {!isEmpty && <InstanceFilterBar filter={filter} counts={counts} onChange={change} />}
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {isEmpty && <FirstRun />}
      {data && isFiltered && rows.length === 0 && (
        <Blank title={t("noMatch")} help={t("noMatchHelp")}>
          <LinkButton to="/instances">{t("showAll")}</LinkButton>
        </Blank>
      )}
      {rows.length > 0 && <InstanceRows key={JSON.stringify(filter)} rows={rows} query={query} />}
    </>
  );
}
