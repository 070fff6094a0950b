import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../../components/action-button.tsx";
import { ExportButton } from "../../../components/csv/list-export.tsx";
import type { Table } from "../../../components/csv/to-csv.ts";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { RelativeTime } from "../../../components/formats.tsx";
import { EmptyState, LoadingState, LoadMore, SectionHeader } from "../../../components/page-header.tsx";
import { rowsOf } from "../../../components/paged-list.tsx";
import { rovingTabIndex } from "../../../components/roving-tab-index.ts";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import type { DeliveryState, EventFilter } from "../filters.ts";
import { DeliveryPill } from "../webhook-state.tsx";
import { eventsOfQuery, type ListedEvent, toEventInput } from "../webhooks-queries.ts";
import { FilterBar, withoutCleared } from "./filter-bar.tsx";
import { readAllPages } from "./read-all-pages.ts";

export function EventsPage() {
  const t = useTranslations("webhooks");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const filter = useSearch({ from: "/shell/instances/$id/webhooks/events" });
  const query = useInfiniteQuery(eventsOfQuery(id, filter));
  const rows = rowsOf(query.data);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <SectionHeader title={t("eventsTitle")} lead={t("eventsLead")}>
        <ExportButton name={`waygate-events-${id}`} read={() => exportEvents(id, filter, t("cut"))} />
      </SectionHeader>
      <EventsFilter id={id} filter={filter} isFiltered={isFiltered} />
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <LoadingState />}
      {query.data && rows.length === 0 && <NoRows id={id} isFiltered={isFiltered} page="events" />}
      {rows.length > 0 && (
        <section className="card">
          <ul ref={rovingTabIndex} className="tries" aria-label={t("eventsTitle")}>
            {rows.map((event) => (
              <EventRow key={event.id} id={id} event={event} />
            ))}
          </ul>
        </section>
      )}
      <LoadMore query={query} />
    </>
  );
}

function EventsFilter({ id, filter, isFiltered }: { id: number; filter: EventFilter; isFiltered: boolean }) {
  const t = useTranslations();
  const navigate = useNavigate();
  const change = (part: { [Key in keyof EventFilter]: EventFilter[Key] | undefined }) =>
    void navigate({
      to: "/instances/$id/webhooks/events",
      params: { id },
      search: withoutCleared({ ...filter, ...part } as EventFilter),
      replace: true,
    });
  const states = ["pending", "retrying", "delivered", "failed", "parked", "discarded"] as const;
  const names = Object.fromEntries(states.map((state) => [state, t(`webhooks.delivery.${state}`)]));
  return (
    <FilterBar id={id} filter={filter} isFiltered={isFiltered} onChange={change}>
      <PickList<string>
        label={t("webhooks.deliveryState")}
        value={filter.state ?? ""}
        options={{ "": t("common.all"), ...names }}
        onChange={(value) => change({ state: value === "" ? undefined : (value as DeliveryState) })}
      />
    </FilterBar>
  );
}

function EventRow({ id, event }: { id: number; event: ListedEvent }) {
  const t = useTranslations("webhooks");
  const { deliveries } = event;
  return (
    <li>
      <span className="hint">
        <RelativeTime at={event.created_at} />
      </span>
      <Link
        className="code"
        to="/instances/$id/webhooks/events/$eventId"
        params={{ id, eventId: event.event_id }}
      >
        {event.event}
      </Link>
      <span className="hint">{t("sequence", { number: event.sequence })}</span>
      <span className="line">
        {deliveries.length === 0 && <span className="hint">{t("noDelivery")}</span>}
        {[...new Set(deliveries.map(({ status }) => status))].map((status) => (
          <DeliveryPill key={status} status={status} />
        ))}
      </span>
    </li>
  );
}

export function NoRows({
  id,
  isFiltered,
  page,
}: {
  id: number;
  isFiltered: boolean;
  page: "events" | "attempts";
}) {
  const t = useTranslations("webhooks");
  if (!isFiltered) return <EmptyState title={t(`${page}Empty`)} help={t(`${page}EmptyHelp`)} />;
  return (
    <EmptyState title={t("noneFound")} help={t("noneFoundHelp")}>
      <LinkButton to={`/instances/$id/webhooks/${page}`} params={{ id }} search={{}}>
        {t("clearFilter")}
      </LinkButton>
    </EmptyState>
  );
}

async function exportEvents(id: number, filter: EventFilter, cutText: string): Promise<Table> {
  const { rows, isCut } = await readAllPages((cursor) =>
    gateway.listEvents({ id, limit: 200, ...toEventInput(filter), ...cursor }),
  );
  if (isCut) showToast(cutText, "info");
  return {
    columns: ["created_at", "sequence", "event_id", "event", "deliveries"],
    rows: rows.map((row) => [row.created_at, row.sequence, row.event_id, row.event, row.deliveries]),
  };
}
