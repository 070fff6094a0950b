import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ListExport } from "../../components/csv/list-export.tsx";
import { DescriptionList } from "../../components/description-list.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { readId, readOneOf } from "../../components/fields/read-search.ts";
import { FilterField } from "../../components/fields/value-field.tsx";
import { formatPhone, RelativeTime } from "../../components/formats.tsx";
import { LoadMore } from "../../components/page-header.tsx";
import { StatusPill } from "../../components/status-dot.tsx";
import { gateway, type InstanceStatus } from "../../gateway/gateway.ts";
import type { Monitor } from "./administration-queries.ts";
import { INSTANCE_STATUSES, type MonitorSearch } from "./administration-search.ts";

type Watched = Monitor["instances"][number];

const COLUMNS = [
  "id",
  "account_id",
  "account_name",
  "name",
  "network",
  "status",
  "phone",
  "connected_at",
  "last_seen_at",
  "last_disconnect_reason",
  "messages_24h",
  "failures_24h",
  "waiting_sends",
  "seconds_since_last_inbound",
  "attempts",
  "memory_mb",
  "recommended_action",
] as const;

interface WatchedInstancesProps {
  query: UseInfiniteQueryResult<InfiniteData<Awaited<ReturnType<typeof gateway.adminMonitor>>>>;
  filter: MonitorSearch;
}

export function WatchedInstances({ query, filter }: WatchedInstancesProps) {
  const t = useTranslations("administration.watched");
  const rows = query.data?.pages.flatMap(({ data }) => data.instances) ?? [];
  const readPage: Parameters<typeof ListExport<Watched>>[0]["readPage"] = async (page) => {
    const { data, pagination } = await gateway.adminMonitor({
      status: filter.status,
      account_id: filter.account,
      ...page,
    });
    return { data: data.instances, pagination };
  };
  return (
    <section className="stack" aria-labelledby="watched">
      <h2 id="watched">{t("title")}</h2>
      <Filters filter={filter} />
      <div className="buttons">
        <ListExport<Watched> name="instances" columns={COLUMNS} readPage={readPage} />
      </div>
      {rows.length === 0 && <p className="hint">{t("none")}</p>}
      <ul className="rows" aria-label={t("title")}>
        {rows.map((row) => (
          <WatchedRow key={row.id} row={row} />
        ))}
      </ul>
      <LoadMore query={query} />
    </section>
  );
}

function Filters({ filter }: Pick<WatchedInstancesProps, "filter">) {
  const t = useTranslations();
  const navigate = useNavigate();
  const show = (change: MonitorSearch) =>
    void navigate({ to: "/administration/monitor", search: { ...filter, ...change }, replace: true });
  const names = Object.fromEntries(INSTANCE_STATUSES.map((status) => [status, t(`status.${status}`)]));
  return (
    <div className="filters">
      <PickList<string>
        label={t("administration.watched.status")}
        value={filter.status ?? ""}
        options={{ "": t("common.all"), ...names }}
        onChange={(status) => show({ status: readOneOf(INSTANCE_STATUSES, status) })}
      />
      <FilterField
        label={t("administration.accountNumber")}
        value={filter.account?.toString()}
        isNumber
        onChange={(account) => show({ account: readId(account) })}
      />
    </div>
  );
}

function Advice({ row: { action_reason, status } }: { row: Watched }) {
  const t = useTranslations();
  if (action_reason === null) return null;
  if (action_reason !== "status") return <p>{t(`alerts.advice.${action_reason}`)}</p>;
  if (status === "disconnected") return <p>{t("alerts.advice.disconnected")}</p>;
  return <p>{t(`statusHelp.${status as InstanceStatus}`)}</p>;
}

function WatchedRow({ row }: { row: Watched }) {
  const t = useTranslations();
  const silence = row.seconds_since_last_inbound;
  return (
    <li className="watched">
      <div className="buttons">
        <h3>{row.name}</h3>
        <StatusPill status={row.status as InstanceStatus} />
        <Link to="/administration/accounts/$accountId" params={{ accountId: row.account_id }}>
          {row.account_name}
        </Link>
        <span className="code">{row.phone === null ? t("instances.noNumber") : formatPhone(row.phone)}</span>
      </div>
      <Advice row={row} />
      <DescriptionList
        items={[
          { name: t("instance.messages"), value: row.messages_24h },
          { name: t("instance.failures"), value: row.failures_24h },
          { name: t("administration.watched.waiting"), value: row.waiting_sends },
          {
            name: t("administration.watched.lastInbound"),
            value:
              silence === null ? (
                t("common.none")
              ) : (
                <RelativeTime at={new Date(Date.now() - silence * 1_000)} />
              ),
          },
          { name: t("administration.watched.attempts"), value: row.attempts },
          {
            name: t("administration.watched.memory"),
            value:
              row.memory_mb === null
                ? t("common.none")
                : t("administration.megabytes", { mb: row.memory_mb }),
          },
        ]}
      />
    </li>
  );
}
