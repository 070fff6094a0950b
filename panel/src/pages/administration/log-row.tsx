import { useTranslations } from "use-intl";
import { Facts } from "../../components/facts.tsx";
import { Lamp, type Tone } from "../../components/lamp.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import type { LogEntry } from "./administration-queries.ts";

/** One entry; it opens to everything that was recorded, under the names that the API has. */
export function LogRow({ row }: { row: LogEntry }) {
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
            <Lamp tone={tone} /> <span className="code">{title}</span>
          </span>
          <span className="hint">
            {row.type === "audit" ? actorOf(row, t) : note} <RelativeTime at={row.created_at} />
          </span>
        </summary>
        <Facts facts={facts} />
      </details>
    </li>
  );
}

type AuditEntry = Extract<LogEntry, { type: "audit" }>;

const ACTORS = ["user", "key", "admin", "system", "public"] as const;

/** The number of a key is that of its instance. */
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

/** What the first line of an entry says. */
function summarise(row: LogEntry): Summary {
  switch (row.type) {
    case "audit":
      return { title: row.action, note: "", tone: "rest" };
    case "api":
      return {
        title: `${row.method} ${row.route}`,
        note: [row.status, row.code].filter(Boolean).join(" "),
        tone: toneOfStatus(row.status),
      };
    case "connections":
      return { title: row.status, note: row.reason ?? "", tone: row.status === "connected" ? "go" : "rest" };
    case "messages":
      return {
        title: `${row.direction} ${row.message_type}`,
        note: row.error_code ?? row.status,
        tone: row.status === "failed" ? "stop" : "go",
      };
    case "webhooks":
      return {
        title: `${row.event} → ${row.webhook_name}`,
        note: String(row.status_code ?? row.error_class ?? ""),
        tone: row.success ? "go" : "stop",
      };
  }
}

function toneOfStatus(status: number): Tone {
  if (status < 400) return "go";
  return status < 500 ? "wait" : "stop";
}
