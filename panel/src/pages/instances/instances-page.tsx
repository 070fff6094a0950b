import "./instances.css";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { formatPhone, RelativeTime } from "../../components/formats.tsx";
import { EmptyState, LoadingState, PageHeader } from "../../components/page-header.tsx";
import { rowsOf } from "../../components/paged-list.tsx";
import { rovingTabIndex } from "../../components/roving-tab-index.ts";
import { StatusPill } from "../../components/status-dot.tsx";
import { StatusReason } from "../../components/status-reason.tsx";
import { type ListQuery, useInfiniteScroll } from "../../components/use-infinite-scroll.ts";
import type { Instance } from "../../gateway/gateway.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { FirstRun } from "./first-run.tsx";
import { InstanceFilterBar } from "./instance-filter-bar.tsx";
import { type InstanceFilter, instanceListQuery } from "./instances-queries.ts";
import { overviewQuery } from "./use-alert-texts.ts";

export function InstancesPage() {
  const t = useTranslations("instances");
  const filter = useSearch({ from: "/shell/instances" });
  const navigate = useNavigate({ from: "/instances" });
  const change = (search: InstanceFilter) => void navigate({ search, replace: true, resetScroll: false });
  const mayManage = useAccess().may("admin");
  const query = useInfiniteQuery(instanceListQuery(filter));
  const counts = useQuery(overviewQuery).data?.instances_by_status;
  const { data, error, isPending, refetch } = query;
  const rows = rowsOf(data);
  const isFiltered = filter.status !== undefined || filter.search !== undefined;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  return (
    <>
      <PageHeader
        title={isEmpty ? t("emptyTitle") : t("title")}
        lead={isEmpty ? t("emptyLead") : <Summary />}
      >
        {!isEmpty && data && mayManage && (
          <LinkButton to="/instances/new" kind="primary">
            {t("create")}
          </LinkButton>
        )}
      </PageHeader>
      {!isEmpty && <InstanceFilterBar filter={filter} counts={counts} onChange={change} />}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {isEmpty && <FirstRun />}
      {data && isFiltered && rows.length === 0 && (
        <EmptyState title={t("noMatch")} help={t("noMatchHelp")}>
          <LinkButton to="/instances">{t("showAll")}</LinkButton>
        </EmptyState>
      )}
      {rows.length > 0 && <InstanceRows key={JSON.stringify(filter)} rows={rows} query={query} />}
    </>
  );
}

/** Reserves its height, so that nothing moves while it loads. */
function Summary() {
  const t = useTranslations("instances");
  const counts = useQuery(overviewQuery).data?.instances_by_status ?? {};
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return total > 0 ? t("summary", { total, connected: counts.connected ?? 0 }) : "\u00a0";
}

const USUAL_HEIGHT = 98;
const GAP = 12;

/** A virtual list of all instances, which fetches more on scroll. */
function InstanceRows({ rows, query }: { rows: readonly Instance[]; query: ListQuery }) {
  const t = useTranslations("instances");
  const frame = useRef<HTMLUListElement>(null);
  const attach = useCallback((list: HTMLUListElement | null) => {
    frame.current = list;
    return rovingTabIndex(list);
  }, []);
  const [scrollMargin, setScrollMargin] = useState(0);
  // Notices above the list change its offset.
  useLayoutEffect(() => setScrollMargin(topOf(frame.current)));
  const list = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => USUAL_HEIGHT,
    getItemKey: (index) => rows[index]?.id ?? index,
    gap: GAP,
    overscan: 6,
    scrollMargin,
  });
  const items = list.getVirtualItems();
  useInfiniteScroll(query, items[0]?.index ?? 0, items.at(-1)?.index ?? 0, rows.length);
  return (
    <ul ref={attach} className="instance-rows" style={{ height: list.getTotalSize() }} aria-label={t("list")}>
      {items.map(({ key, index, start }) => {
        const row = rows[index];
        return (
          row && (
            <li
              key={key}
              ref={list.measureElement}
              data-index={index}
              aria-setsize={query.hasNextPage ? -1 : rows.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start - scrollMargin}px)` }}
            >
              <InstanceRow row={row} />
            </li>
          )
        );
      })}
    </ul>
  );
}

function topOf(element: HTMLElement | null): number {
  return element ? Math.round(element.getBoundingClientRect().top + scrollY) : 0;
}

function InstanceRow({ row }: { row: Instance }) {
  const t = useTranslations("instances");
  return (
    <div className="row instance-row">
      <div>
        <h2>
          <Link to="/instances/$id" params={{ id: row.id }}>
            {row.name}
          </Link>
        </h2>
        <p className="code">
          {row.phone === null ? t("noNumber") : formatPhone(row.phone)} · {t(row.network)}
        </p>
      </div>
      <div className="stack">
        <div className="buttons">
          <StatusPill status={row.status} />
          <span className="hint">
            {t.rich("changed", { when: () => <RelativeTime at={row.updated_at} /> })}
          </span>
        </div>
        <StatusReason status={row.status} reason={row.last_disconnect_reason} />
      </div>
      <NextStep row={row} />
    </div>
  );
}

/** The next step for an instance. */
function NextStep({ row: { id, name, status, network } }: { row: Instance }) {
  const t = useTranslations("instances");
  const label = (text: string) => ({ children: text, "aria-label": `${text}: ${name}` });
  if (status === "connected")
    return <LinkButton to="/instances/$id/send" params={{ id }} {...label(t("send"))} />;
  if (status === "reconnecting" || status === "banned" || status === "error" || status === "disconnected")
    return <LinkButton to="/instances/$id" params={{ id }} {...label(t("open"))} />;
  const isRunning = status === "connecting" || status === "qr_pending" || status === "passkey_required";
  const text = isRunning ? t("continueLink") : network === "sandbox" ? t("linkSandbox") : t("link");
  return <LinkButton to="/instances/$id/link" params={{ id }} {...label(text)} />;
}
