import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ExportButton } from "../../../components/csv/list-export.tsx";
import type { Table } from "../../../components/csv/to-csv.ts";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { RelativeTime } from "../../../components/formats.tsx";
import { LoadingState, LoadMore, SectionHeader } from "../../../components/page-header.tsx";
import { rowsOf } from "../../../components/paged-list.tsx";
import { rovingTabIndex } from "../../../components/roving-tab-index.ts";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import type { AttemptFilter } from "../filters.ts";
import { AttemptPill } from "../webhook-state.tsx";
import { type Attempt, attemptsQuery, toAttemptInput } from "../webhooks-queries.ts";
import { NoRows } from "./events-page.tsx";
import { FilterBar, withoutCleared } from "./filter-bar.tsx";
import { readAllPages } from "./read-all-pages.ts";

export function AttemptsPage() {
  const t = useTranslations("webhooks");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const filter = useSearch({ from: "/shell/instances/$id/webhooks/attempts" });
  const query = useInfiniteQuery(attemptsQuery(id, filter));
  const rows = rowsOf(query.data);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <SectionHeader title={t("attemptsTitle")} lead={t("attemptsLead")}>
        <ExportButton name={`waygate-deliveries-${id}`} read={() => exportAttempts(id, filter, t("cut"))} />
      </SectionHeader>
      <AttemptsFilter id={id} filter={filter} isFiltered={isFiltered} />
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <LoadingState />}
      {query.data && rows.length === 0 && <NoRows id={id} isFiltered={isFiltered} page="attempts" />}
      {rows.length > 0 && (
        <section className="card">
          <AttemptList id={id} attempts={rows} />
        </section>
      )}
      <LoadMore query={query} />
    </>
  );
}

const STATUSES = [200, 204, 301, 302, 400, 401, 403, 404, 405, 408, 410, 413, 422, 429, 500, 502, 503, 504];

function AttemptsFilter({
  id,
  filter,
  isFiltered,
}: {
  id: number;
  filter: AttemptFilter;
  isFiltered: boolean;
}) {
  const t = useTranslations();
  const navigate = useNavigate();
  const change = (part: { [Key in keyof AttemptFilter]: AttemptFilter[Key] | undefined }) =>
    void navigate({
      to: "/instances/$id/webhooks/attempts",
      params: { id },
      search: withoutCleared({ ...filter, ...part } as AttemptFilter),
      replace: true,
    });
  // A URL may contain a status that the list does not offer.
  const known = [...new Set([...STATUSES, ...(filter.status === undefined ? [] : [filter.status])])];
  const statuses = Object.fromEntries(known.map((status) => [String(status), String(status)]));
  return (
    <FilterBar id={id} filter={filter} isFiltered={isFiltered} onChange={change}>
      <PickList<"" | "succeeded" | "failed">
        label={t("webhooks.result")}
        value={filter.result ?? ""}
        options={{
          "": t("common.all"),
          succeeded: t("webhooks.figures.succeeded"),
          failed: t("webhooks.figures.failed"),
        }}
        onChange={(value) => change({ result: value === "" ? undefined : value })}
      />
      <PickList<string>
        label={t("webhooks.status")}
        value={String(filter.status ?? "")}
        options={{ "": t("common.all"), ...statuses }}
        onChange={(value) => change({ status: value === "" ? undefined : Number(value) })}
      />
    </FilterBar>
  );
}

export function AttemptList({ id, attempts }: { id: number; attempts: readonly Attempt[] }) {
  const t = useTranslations("webhooks");
  return (
    <ul ref={rovingTabIndex} className="tries" aria-label={t("attemptsTitle")}>
      {attempts.map((attempt) => (
        <li key={attempt.id}>
          <span className="hint">
            <RelativeTime at={attempt.created_at} />
          </span>
          <Link
            className="code"
            to="/instances/$id/webhooks/attempts/$logId"
            params={{ id, logId: attempt.id }}
          >
            {attempt.event}
          </Link>
          <span className="hint">
            {attempt.webhook_name} · {t(`trigger.${attempt.trigger}`, { number: attempt.attempt })} ·{" "}
            {attempt.duration_ms} ms
          </span>
          <span>
            <AttemptPill attempt={attempt} />
          </span>
        </li>
      ))}
    </ul>
  );
}

async function exportAttempts(id: number, filter: AttemptFilter, cutText: string): Promise<Table> {
  const { rows, isCut } = await readAllPages((cursor) =>
    gateway.listDeliveryLogs({ id, limit: 200, ...toAttemptInput(filter), ...cursor }),
  );
  if (isCut) showToast(cutText, "info");
  const columns = [
    "created_at",
    "webhook_name",
    "event",
    "event_id",
    "attempt",
    "trigger",
    "success",
    "status_code",
    "error",
    "duration_ms",
    "url",
  ] as const;
  return { columns, rows: rows.map((row) => columns.map((column) => row[column])) };
}
