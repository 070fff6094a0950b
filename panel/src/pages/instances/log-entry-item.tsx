import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { formatPhone, RelativeTime } from "../../components/formats.tsx";
import { StatusDot, StatusPill, type Tone } from "../../components/status-dot.tsx";
import { StatusReason } from "../../components/status-reason.tsx";
import { useGatewayTexts } from "../../components/use-gateway-texts.ts";
import type { InstanceStatus } from "../../gateway/gateway.ts";
import { STATUSES } from "./instances-queries.ts";
import type { LogEntry, LogKind } from "./log-queries.ts";
import { useFailureCause } from "./use-alert-texts.ts";

type AnyEntry = LogEntry<LogKind>;

export function LogEntryItem({ kind, entry }: { kind: LogKind; entry: AnyEntry }) {
  if (kind === "connections") return <ConnectionEntry entry={entry as LogEntry<"connections">} />;
  if (kind === "messages") return <MessageEntry entry={entry as LogEntry<"messages">} />;
  if (kind === "webhooks") return <WebhookEntry entry={entry as LogEntry<"webhooks">} />;
  return <RequestEntry entry={entry as LogEntry<"api">} />;
}

function Entry({ head, at, children }: { head: ReactNode; at: string; children?: ReactNode }) {
  return (
    <li>
      <div className="log-head">
        <span className="buttons">{head}</span>
        <span className="hint">
          <RelativeTime at={at} />
        </span>
      </div>
      {children}
    </li>
  );
}

function Pill({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="pill" data-tone={tone}>
      <StatusDot tone={tone} />
      {children}
    </span>
  );
}

function ConnectionEntry({ entry: { status, reason, created_at } }: { entry: LogEntry<"connections"> }) {
  const known = STATUSES.find((one): one is InstanceStatus => one === status);
  return (
    <Entry
      at={created_at}
      head={known ? <StatusPill status={known} /> : <Pill tone="neutral">{status}</Pill>}
    >
      {known && reason && <StatusReason status={known} reason={reason} />}
      {reason && <p className="code hint">{reason}</p>}
    </Entry>
  );
}

const MESSAGE_TONES: Readonly<Record<string, Tone>> = {
  failed: "danger",
  cancelled: "neutral",
  pending: "warning",
};

function MessageEntry({ entry }: { entry: LogEntry<"messages"> }) {
  const t = useTranslations("logs");
  const texts = useGatewayTexts();
  const { direction, status, type, jid, error, message_id, created_at } = entry;
  const isSent = direction === "outbound";
  return (
    <Entry
      at={created_at}
      head={
        <>
          <Pill tone={MESSAGE_TONES[status] ?? "success"}>{status}</Pill>
          <strong>{t(isSent ? "to" : "from", { who: formatPhone(jid.split("@")[0] ?? jid) })}</strong>
        </>
      }
    >
      {error && <p>{texts.failure(error).sentence}</p>}
      <p className="code hint">
        {type} · {message_id}
      </p>
    </Entry>
  );
}

function WebhookEntry({ entry }: { entry: LogEntry<"webhooks"> }) {
  const t = useTranslations("logs");
  const cause = useFailureCause();
  const { success, status_code, event, url, attempt, duration_ms, webhook_name, created_at, error } = entry;
  return (
    <Entry
      at={created_at}
      head={
        <>
          <Pill tone={success ? "success" : "danger"}>
            {status_code ?? t(success ? "stored" : "noResponse")}
          </Pill>
          <strong className="code">{event}</strong>
        </>
      }
    >
      {!success && <p>{cause(entry).sentence}</p>}
      {error && (
        <p className="hint" lang="en">
          {error}
        </p>
      )}
      <p className="hint">
        {t("attempt", { attempt, duration: Math.round(duration_ms), webhook: webhook_name })}
      </p>
      <p className="code hint">{url}</p>
    </Entry>
  );
}

function RequestEntry({ entry }: { entry: LogEntry<"api"> }) {
  const t = useTranslations("logs");
  const { method, route, status, code, caller, duration_ms, request_id, created_at } = entry;
  return (
    <Entry
      at={created_at}
      head={
        <>
          <Pill tone={status < 400 ? "success" : "danger"}>{status}</Pill>
          <strong className="code">
            {method} {route}
          </strong>
        </>
      }
    >
      <p className="hint">
        {t("request", { caller: t(`callers.${caller}`), duration: Math.round(duration_ms) })}
      </p>
      <p className="code hint">
        {code ? `${code} · ` : ""}
        {request_id}
      </p>
    </Entry>
  );
}
