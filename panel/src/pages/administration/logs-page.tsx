import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ListExport } from "../../components/csv/list-export.tsx";
import { DescriptionList } from "../../components/description-list.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { readId, readOneOf } from "../../components/fields/read-search.ts";
import { FilterField } from "../../components/fields/value-field.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { StatusDot, type Tone } from "../../components/status-dot.tsx";
import { gateway } from "../../gateway/gateway.ts";
import type { WebhookEvent } from "../webhooks/event-groups.ts";
import { type LogEntry, logsQuery } from "./administration-queries.ts";
import { LOG_TYPES, type LogsSearch } from "./administration-search.ts";

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

/** The logs of the gateway, newest first. The URL holds the filters. */
export function LogsPage() {
  const t = useTranslations("administration.logs");
  const search = useSearch({ from: "/shell/administration/logs" });
  const type = search.type ?? "audit";
  const filter = toFilter(type, search);
  const query = useInfiniteQuery(logsQuery(filter));
  return (
    <>
      <PageHeader title={t("title")} lead={t(`leads.${type}`)} />
      <section className="stack" aria-label={t("title")}>
        <Filters type={type} />
        <div className="buttons">
          <ListExport<LogEntry>
            name={`${type}-log`}
            columns={COLUMNS[type] as readonly (keyof LogEntry)[]}
            readPage={(page) => gateway.listLogs({ ...filter, ...page })}
          />
        </div>
        <PagedList
          query={query}
          className="events card"
          label={t(`types.${type}`)}
          none={<p className="hint">{t("none")}</p>}
        >
          {(row) => <LogRow key={row.id} row={row} />}
        </PagedList>
      </section>
    </>
  );
}

/** Drops filters of other logs, which the gateway rejects. */
function toFilter(type: LogType, { account, instance, action, event, result }: LogsSearch) {
  return {
    type,
    account_id: account,
    ...(type === "audit" ? { action } : { instance_id: instance }),
    ...(type === "webhooks" && { event: event as WebhookEvent | undefined }),
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

/** One entry that expands to all recorded fields, under their API names. */
function LogRow({ row }: { row: LogEntry }) {
  const t = useTranslations();
  const { title, note, tone } = summarise(row);
  const facts = Object.entries(row)
    .filter(([name]) => name !== "type")
    .map(([name, value]) => ({ name, value: write(value) || t("common.none") }));
  return (
    <li>
      <details>
        <summary>
          <span className="log-title" data-tone={tone}>
            <StatusDot tone={tone} /> <span className="code">{title}</span>
          </span>
          <span className="hint">
            {row.type === "audit" ? actorOf(row, t) : note} <RelativeTime at={row.created_at} />
          </span>
        </summary>
        <DescriptionList items={facts} />
      </details>
    </li>
  );
}

type AuditEntry = Extract<LogEntry, { type: "audit" }>;

const ACTORS = ["user", "key", "admin", "system", "public"] as const;

/** A key has the id of its instance. */
function actorOf({ actor, actor_id }: AuditEntry, t: ReturnType<typeof useTranslations<never>>): string {
  const known = ACTORS.find((one) => one === actor);
  return known ? t(`administration.logs.actors.${known}`, { id: String(actor_id ?? "") }) : actor;
}

function write(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

interface Summary {
  title: string;
  note: string;
  tone: Tone;
}

/** Title of an entry. */
function summarise(row: LogEntry): Summary {
  switch (row.type) {
    case "audit":
      return { title: row.action, note: "", tone: "neutral" };
    case "api":
      return {
        title: `${row.method} ${row.route}`,
        note: [row.status, row.code].filter(Boolean).join(" "),
        tone: toneOfStatus(row.status),
      };
    case "connections":
      return {
        title: row.status,
        note: row.reason ?? "",
        tone: row.status === "connected" ? "success" : "neutral",
      };
    case "messages":
      return {
        title: `${row.direction} ${row.message_type}`,
        note: row.error_code ?? row.status,
        tone: row.status === "failed" ? "danger" : "success",
      };
    case "webhooks":
      return {
        title: `${row.event} → ${row.webhook_name}`,
        note: String(row.status_code ?? row.error_class ?? ""),
        tone: row.success ? "success" : "danger",
      };
  }
}

function toneOfStatus(status: number): Tone {
  if (status < 400) return "success";
  return status < 500 ? "warning" : "danger";
}
