import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import type { Instance } from "../../api/gateway.ts";
import { LinkButton } from "../../components/action-button.tsx";
import { formatPhone } from "../../components/format-phone.ts";
import { RelativeTime } from "../../components/relative-time.tsx";
import { StatusPill } from "../../components/status-pill.tsx";
import { StatusReason } from "../../components/status-reason.tsx";

export function InstanceRow({ row }: { row: Instance }) {
  const t = useTranslations("instances");
  return (
    <div className="row instance-row">
      <div>
        <h2>
          <Link to="/instances/$id" params={{ id: row.id }}>
            {row.name}
          </Link>
        </h2>
        <p className="code">
          {row.phone === null ? t("noNumber") : formatPhone(row.phone)} · {t(row.network)}
        </p>
      </div>
      <div className="stack">
        <div className="buttons">
          <StatusPill status={row.status} />
          <span className="hint">
            {t.rich("changed", { when: () => <RelativeTime at={row.updated_at} /> })}
          </span>
        </div>
        <StatusReason status={row.status} reason={row.last_disconnect_reason} />
      </div>
      <NextStep row={row} />
    </div>
  );
}

/** The one thing that helps this instance most. */
export function NextStep({ row: { id, name, status, network } }: { row: Instance }) {
  const t = useTranslations("instances");
  const label = (text: string) => ({ children: text, "aria-label": `${text}: ${name}` });
  if (status === "connected")
    return <LinkButton to="/instances/$id/send" params={{ id }} {...label(t("send"))} />;
  if (status === "reconnecting" || status === "banned" || status === "error" || status === "disconnected")
    return <LinkButton to="/instances/$id" params={{ id }} {...label(t("open"))} />;
  const isRunning = status === "connecting" || status === "qr_pending" || status === "passkey_required";
  const text = isRunning ? t("continueLink") : network === "sandbox" ? t("linkSandbox") : t("link");
  return <LinkButton to="/instances/$id/link" params={{ id }} {...label(text)} />;
}
