import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { readId, readOneOf } from "../../api/read-search.ts";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { ListExport } from "../../components/list-export.tsx";
import { LoadMore } from "../../components/load-more.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { type LogEntry, logsQuery } from "./administration-queries.ts";
import { LOG_TYPES, type LogsSearch } from "./administration-words.ts";
import { LogRow } from "./log-row.tsx";

type LogType = (typeof LOG_TYPES)[number];

const SHARED = ["id", "created_at", "account_id", "instance_id"];
const COLUMNS: Readonly<Record<LogType, readonly string[]>> = {
  audit: [
    "id",
    "created_at",
    "account_id",
    "actor",
    "actor_id",
    "action",
    "target_type",
    "target_id",
    "fields",
    "ip",
    "request_id",
  ],
  api: [
    ...SHARED,
    "caller",
    "user_id",
    "key_last4",
    "method",
    "route",
    "status",
    "code",
    "duration_ms",
    "ip",
    "request_id",
  ],
  connections: [...SHARED, "status", "reason"],
  messages: [
    ...SHARED,
    "message_id",
    "direction",
    "origin",
    "message_type",
    "status",
    "error_code",
    "sent_at",
  ],
  webhooks: [
    ...SHARED,
    "event_id",
    "event",
    "webhook_id",
    "webhook_name",
    "url",
    "attempt",
    "trigger",
    "success",
    "status_code",
    "error",
    "duration_ms",
  ],
};

/** The logs of the gateway, newest first; each filtered view has an address of its own. */
export function LogsPage() {
  const t = useTranslations("administration.logs");
  const search = useSearch({ from: "/shell/administration/logs" });
  const type = search.type ?? "audit";
  const filter = toFilter(type, search);
  const query = useInfiniteQuery(logsQuery(filter));
  const { data, error, isPending, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <PageHead title={t("title")} lead={t(`leads.${type}`)} />
      <section className="stack" aria-label={t("title")}>
        <Filters type={type} />
        <div className="buttons">
          <ListExport<LogEntry>
            name={`${type}-log`}
            columns={COLUMNS[type] as readonly (keyof LogEntry)[]}
            readPage={(page) => gateway.listLogs({ ...filter, ...page })}
          />
        </div>
        {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
        {isPending && <LoadingState />}
        {data && rows.length === 0 && <p className="hint">{t("none")}</p>}
        {rows.length > 0 && (
          <ul className="events plate" aria-label={t(`types.${type}`)}>
            {rows.map((row) => (
              <LogRow key={row.id} row={row} />
            ))}
          </ul>
        )}
        <LoadMore query={query} />
      </section>
    </>
  );
}

/** Only the filters that the log knows: the gateway refuses the others. */
function toFilter(type: LogType, { account, instance, action, event, result }: LogsSearch) {
  return {
    type,
    account_id: account,
    ...(type === "audit" ? { action } : { instance_id: instance }),
    ...(type === "webhooks" && { event }),
    ...((type === "webhooks" || type === "api") &&
      result !== undefined && { success: result === "good" ? "true" : "false" }),
  };
}

function Filters({ type }: { type: LogType }) {
  const t = useTranslations("administration");
  const navigate = useNavigate();
  const search = useSearch({ from: "/shell/administration/logs" });
  const show = (change: Partial<LogsSearch>) =>
    void navigate({ to: "/administration/logs", search: { ...search, ...change }, replace: true });
  const names = Object.fromEntries(LOG_TYPES.map((one) => [one, t(`logs.types.${one}`)]));
  return (
    <div className="filters">
      <PickList<string>
        label={t("logs.type")}
        value={type}
        options={names}
        onChange={(next) => show({ type: readOneOf(LOG_TYPES, next) })}
      />
      <FilterField
        label={t("accountNumber")}
        value={search.account?.toString()}
        isNumber
        onChange={(account) => show({ account: readId(account) })}
      />
      <FiltersOfType type={type} search={search} show={show} />
    </div>
  );
}

interface FiltersOfTypeProps {
  type: LogType;
  search: LogsSearch;
  show(change: Partial<LogsSearch>): void;
}

/** The filters that only some logs have. */
function FiltersOfType({ type, search, show }: FiltersOfTypeProps) {
  const t = useTranslations("administration");
  const common = useTranslations("common");
  if (type === "audit") {
    return (
      <FilterField
        label={t("logs.action")}
        value={search.action}
        placeholder="user.*"
        onChange={(action) => show({ action })}
      />
    );
  }
  const results = { "": common("all"), good: t("logs.good"), bad: t("logs.bad") };
  return (
    <>
      <FilterField
        label={t("instanceNumber")}
        value={search.instance?.toString()}
        isNumber
        onChange={(instance) => show({ instance: readId(instance) })}
      />
      {(type === "webhooks" || type === "api") && (
        <PickList<string>
          label={t("logs.result")}
          value={search.result ?? ""}
          options={results}
          onChange={(result) => show({ result: readOneOf(["good", "bad"] as const, result) })}
        />
      )}
      {type === "webhooks" && (
        <FilterField
          label={t("logs.event")}
          value={search.event}
          placeholder="message.received"
          onChange={(event) => show({ event })}
        />
      )}
    </>
  );
}
