import { useTranslations } from "use-intl";
import { Facts } from "../../components/facts.tsx";
import { Lamp, type Tone } from "../../components/lamp.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import type { LogEntry } from "./administration-queries.ts";

/** One entry; it opens to everything that was recorded, under the names that the API has. */
export function LogRow({ row }: { row: LogEntry }) {
  const t = useTranslations("common");
  const { title, note, tone } = summarise(row);
  const facts = Object.entries(row)
    .filter(([name]) => name !== "type")
    .map(([name, value]) => ({ name, value: write(value) || t("none") }));
  return (
    <li>
      <details>
        <summary>
          <span className="log-title" data-tone={tone}>
            <Lamp tone={tone} /> <span className="code">{title}</span>
          </span>
          <span className="hint">
            {note} <RelativeTime at={row.created_at} />
          </span>
        </summary>
        <Facts facts={facts} />
      </details>
    </li>
  );
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
      return { title: row.action, note: `${row.actor} ${row.actor_id ?? ""}`.trim(), tone: "rest" };
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
