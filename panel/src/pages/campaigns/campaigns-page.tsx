import "./campaigns.css";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { ExportButton } from "../../components/csv/list-export.tsx";
import type { Table } from "../../components/csv/to-csv.ts";
import { PickList } from "../../components/fields/pick-list.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { EmptyState, PageHeader } from "../../components/page-header.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { useLiveEvent } from "../../gateway/live-events.ts";
import { CAMPAIGN_STATUSES } from "./campaign-filters.ts";
import { CampaignPill, StateSentence } from "./campaign-state.tsx";
import {
  type Campaign,
  type CampaignFilter,
  campaignsQuery,
  type ListedCampaign,
  senderQuery,
} from "./campaigns-queries.ts";

export function CampaignsPage() {
  const t = useTranslations("campaigns");
  const filter = useSearch({ from: "/shell/campaigns" });
  const query = useInfiniteQuery(campaignsQuery(filter));
  const { refetch } = query;
  useLiveEvent(({ event }) => {
    if (event.startsWith("campaign.")) void refetch();
  });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")}>
        <ExportButton name="campaigns" read={() => readAll(filter)} />
        <LinkButton to="/campaigns/new" kind="primary">
          {t("create")}
        </LinkButton>
      </PageHeader>
      <Filters filter={filter} />
      <PagedList
        query={query}
        label={t("list")}
        none={
          <EmptyState
            title={t(isFiltered ? "noMatch" : "emptyTitle")}
            help={t(isFiltered ? "noMatchHelp" : "emptyHelp")}
          >
            {isFiltered && <LinkButton to="/campaigns">{t("showAll")}</LinkButton>}
          </EmptyState>
        }
      >
        {(row) => <CampaignRow key={row.id} row={row} />}
      </PagedList>
    </>
  );
}

function Filters({ filter }: { filter: CampaignFilter }) {
  const t = useTranslations();
  const navigate = useNavigate();
  const senders = useQuery(senderQuery);
  const show = (next: CampaignFilter) => void navigate({ to: "/campaigns", search: next, replace: true });
  const { status: _, ...withoutStatus } = filter;
  const { instance: __, ...withoutInstance } = filter;
  const { archived: ___, ...current } = filter;
  const statuses = Object.fromEntries(CAMPAIGN_STATUSES.map((one) => [one, t(`campaigns.status.${one}`)]));
  const instances = Object.fromEntries((senders.data ?? []).map(({ id, name }) => [`#${id}`, name]));
  return (
    <search className="pickers">
      <PickList
        label={t("campaigns.state")}
        value={(filter.status ?? "") as string}
        options={{ "": t("common.all"), ...statuses }}
        onChange={(status) =>
          show({ ...withoutStatus, ...(status && { status: status as Campaign["status"] }) })
        }
      />
      <PickList
        label={t("campaigns.instance")}
        value={filter.instance ? `#${filter.instance}` : ""}
        options={{ "": t("common.all"), ...instances }}
        onChange={(one) => show({ ...withoutInstance, ...(one && { instance: Number(one.slice(1)) }) })}
      />
      <PickList
        label={t("campaigns.archive")}
        value={filter.archived ? "archived" : "current"}
        options={{ current: t("campaigns.current"), archived: t("campaigns.archived") }}
        onChange={(one) => show({ ...current, ...(one === "archived" && { archived: true as const }) })}
      />
    </search>
  );
}

function CampaignRow({ row }: { row: ListedCampaign }) {
  const t = useTranslations("campaigns");
  const senders = useQuery(senderQuery);
  const sender = senders.data?.find(({ id }) => id === row.instance_id)?.name;
  return (
    <li className="row campaign-row">
      <div>
        <h2>
          <Link to="/campaigns/$id" params={{ id: row.id }}>
            {row.name}
          </Link>
        </h2>
        <p className="hint">{sender === undefined ? t("senderGone") : t("from", { name: sender })}</p>
      </div>
      <div className="stack">
        <div className="buttons">
          <CampaignPill campaign={row} />
          <span className="hint">
            <RelativeTime at={row.completed_at ?? row.started_at ?? row.created_at} />
          </span>
        </div>
        <StateSentence campaign={row} />
        {row.totals && row.totals.total > 0 && <p className="hint">{t("figuresOf", { ...row.totals })}</p>}
      </div>
    </li>
  );
}

const COLUMNS = [
  "id",
  "name",
  "instance_id",
  "status",
  "status_reason",
  "scheduled_at",
  "started_at",
  "completed_at",
] as const;
const MOST_ROWS = 10_000;

async function readAll({ status, instance, archived }: CampaignFilter): Promise<Table> {
  const rows: Campaign[] = [];
  let cursor: string | null = "";
  while (cursor !== null && rows.length < MOST_ROWS) {
    const page: Awaited<ReturnType<typeof gateway.listCampaigns>> = await gateway.listCampaigns({
      limit: 200,
      archived: archived ? "true" : "false",
      ...(status && { status }),
      ...(instance && { instance_id: instance }),
      ...(cursor && { cursor }),
    });
    rows.push(...page.data);
    cursor = page.pagination.next_cursor;
  }
  return { columns: COLUMNS, rows: rows.map((row) => COLUMNS.map((name) => row[name])) };
}
