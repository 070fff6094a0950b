import "./instances.css";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ExportButton } from "../../components/csv/list-export.tsx";
import type { Table } from "../../components/csv/to-csv.ts";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { CheckField } from "../../components/fields/check-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { EmptyState, LoadingState, LoadMore } from "../../components/page-header.tsx";
import { rovingTabIndex } from "../../components/roving-tab-index.ts";
import { showToast } from "../../components/toasts.tsx";
import { LogEntryItem } from "./log-entry-item.tsx";
import { LOG_KINDS, LOG_PERIODS, type LogFilter, logQuery, readLogPage } from "./log-queries.ts";

export function InstanceLogsPage() {
  const t = useTranslations("logs");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const filter = useSearch({ from: "/shell/instances/$id/logs" });
  const { kind = "connections" } = filter;
  const query = useInfiniteQuery(logQuery(id, filter));
  const entries =
    query.data?.pages.flatMap((page) => page.entries[kind].map((entry) => ({ kind, entry }))) ?? [];
  const isFiltered = filter.failed !== undefined || filter.period !== undefined;
  return (
    <section className="stack" aria-label={t("title")}>
      <LogFilterBar id={id} filter={filter} />
      <p className="hint">{t(`help.${kind}`)}</p>
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <LoadingState />}
      {query.data && entries.length === 0 && (
        <EmptyState title={t("empty")} help={isFiltered ? t("emptyFiltered") : t("emptyHelp")} />
      )}
      {entries.length > 0 && (
        <div className="card">
          <ul ref={rovingTabIndex} className="log-list" aria-label={t(`kinds.${kind}`)}>
            {entries.map(({ entry }) => (
              <LogEntryItem key={entry.id} kind={kind} entry={entry} />
            ))}
          </ul>
        </div>
      )}
      <LoadMore query={query} />
    </section>
  );
}

function LogFilterBar({ id, filter }: { id: number; filter: LogFilter }) {
  const t = useTranslations("logs");
  const navigate = useNavigate();
  const set = (change: { [Key in keyof LogFilter]?: LogFilter[Key] | undefined }) => {
    const search = Object.fromEntries(Object.entries({ ...filter, ...change }).filter(([, value]) => value));
    void navigate({ to: "/instances/$id/logs", params: { id }, search, replace: true, resetScroll: false });
  };
  const kinds = Object.fromEntries(LOG_KINDS.map((one) => [one, t(`kinds.${one}`)]));
  const periods = Object.fromEntries(LOG_PERIODS.map((one) => [one, t(`periods.${one}`)]));
  return (
    <div className="filter-bar" data-log="">
      <PickList<string>
        label={t("kind")}
        value={filter.kind ?? "connections"}
        options={kinds}
        onChange={(kind) => set({ kind: kind as NonNullable<LogFilter["kind"]> })}
      />
      <PickList<string>
        label={t("period")}
        value={filter.period ?? ""}
        options={{ "": t("periods.any"), ...periods }}
        onChange={(period) => set({ period: (period || undefined) as LogFilter["period"] })}
      />
      <CheckField
        label={t("failedOnly")}
        isSelected={filter.failed === true}
        onChange={(isOn) => set({ failed: isOn ? true : undefined })}
      />
      <ExportButton
        name={`instance-${id}-${filter.kind ?? "connections"}`}
        read={() => readTable(id, filter, t)}
      />
    </div>
  );
}

const MOST_EXPORTED = 10_000;

async function readTable(
  id: number,
  filter: LogFilter,
  t: ReturnType<typeof useTranslations<"logs">>,
): Promise<Table> {
  const rows: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readLogPage>> = await readLogPage(id, filter, {
      limit: 200,
      ...(cursor && { cursor }),
    });
    rows.push(...page.entries[filter.kind ?? "connections"]);
    cursor = page.pagination.next_cursor;
  } while (cursor !== null && rows.length < MOST_EXPORTED);
  if (cursor !== null) showToast(t("exportCut", { count: rows.length }), "info");
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return { columns, rows: rows.map((row) => columns.map((column) => row[column])) };
}
