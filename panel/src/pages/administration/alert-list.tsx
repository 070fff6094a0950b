import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { Notice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { StatusDot } from "../../components/status-dot.tsx";
import { useAccess } from "../../gateway/use-access.ts";
import { useAlertTexts } from "../instances/use-alert-texts.ts";
import type { Alert } from "./administration-queries.ts";

const KNOWN = [
  "instance_lost",
  "webhook_failing",
  "storage_nearly_full",
  "queue_late",
  "held_back",
  "no_live_worker",
  "no_live_session_host",
] as const;

/** Alerts with their remedies, critical ones first. */
export function AlertList({ alerts }: { alerts: readonly Alert[] }) {
  const t = useTranslations("administration.alerts");
  if (alerts.length === 0) {
    return (
      <Notice tone="success">
        <p>{t("none")}</p>
      </Notice>
    );
  }
  return (
    <section className="card">
      <h2>{t("title", { count: alerts.length })}</h2>
      <ul className="entries" aria-label={t("list")}>
        {alerts.map((alert) => (
          <AlertEntry
            key={`${alert.key} ${alert.account_id} ${alert.instance_id} ${alert.webhook_id}`}
            alert={alert}
          />
        ))}
      </ul>
    </section>
  );
}

function AlertEntry({ alert }: { alert: Alert }) {
  const t = useTranslations("administration.alerts");
  const key = KNOWN.find((one) => one === alert.key);
  const { sentence, help } = useAlertTexts({ isOfOthers: true })(alert);
  const tone = alert.severity === "critical" ? "danger" : "warning";
  return (
    <li className="alert">
      <div className="stack">
        <div className="buttons">
          <span className="pill" data-tone={tone}>
            <StatusDot tone={tone} />
            {t(alert.severity)}
          </span>
          <strong>{key ? t(`keys.${key}`) : alert.key}</strong>
          {alert.since !== null && (
            <span className="hint">
              {t.rich("since", { when: () => <RelativeTime at={alert.since ?? ""} /> })}
            </span>
          )}
        </div>
        <p>{sentence}</p>
        <p>
          <strong>{t("whatToDo")}</strong> {help}
        </p>
        <AlertLinks alert={alert} />
      </div>
    </li>
  );
}

/** An alert of the own account links to its page, one of another account to that account. */
function AlertLinks({ alert: { account_id, instance_id, webhook_id, key } }: { alert: Alert }) {
  const t = useTranslations("administration.alerts");
  const { signed } = useAccess();
  if (key === "held_back") return null;
  const isOwn = account_id !== null && account_id === signed?.account.id;
  return (
    <div className="links">
      {isOwn && instance_id !== null && webhook_id === null && (
        <Link to="/instances/$id" params={{ id: instance_id }}>
          {t("openInstance", { id: instance_id })}
        </Link>
      )}
      {isOwn && instance_id !== null && webhook_id !== null && (
        <Link to="/instances/$id/webhooks" params={{ id: instance_id }}>
          {t("openWebhooks", { id: instance_id })}
        </Link>
      )}
      {!isOwn && account_id !== null && (
        <Link to="/administration/accounts/$accountId" params={{ accountId: account_id }}>
          {t("openAccount", { id: account_id })}
        </Link>
      )}
      {account_id !== null && instance_id !== null && (
        <Link
          to="/administration/logs"
          search={{
            type: webhook_id === null ? "connections" : "webhooks",
            account: account_id,
            instance: instance_id,
          }}
        >
          {t("openLog")}
        </Link>
      )}
    </div>
  );
}
