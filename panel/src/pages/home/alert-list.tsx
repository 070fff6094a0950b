import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { Lamp } from "../../components/lamp.tsx";
import { Notice } from "../../components/notice.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import type { Alert } from "./overview-query.ts";
import { useAlertWords } from "./use-alert-words.ts";

/** More would hide the rest of the page; the lists have all. */
const SHOWN = 8;

/** What is wrong, in sentences, the gravest first, each with the act that helps. */
export function AlertList({ alerts }: { alerts: readonly Alert[] }) {
  const t = useTranslations("home");
  if (alerts.length === 0)
    return (
      <Notice tone="go">
        <p>{t("allWell")}</p>
      </Notice>
    );
  const hidden = alerts.length - SHOWN;
  return (
    <section aria-label={t("attention")} className="stack">
      <h2>{t("attention")}</h2>
      <ul className="alerts">
        {alerts.slice(0, SHOWN).map((alert) => (
          <AlertItem key={`${alert.key} ${alert.instance_id} ${alert.webhook_id}`} alert={alert} />
        ))}
      </ul>
      {hidden > 0 && (
        <div className="buttons">
          <p>{t("more", { count: hidden })}</p>
          <LinkButton to="/instances">{t("showInstances")}</LinkButton>
        </div>
      )}
    </section>
  );
}

function AlertItem({ alert }: { alert: Alert }) {
  const t = useTranslations("home");
  const { sentence, help } = useAlertWords({ isOfOthers: false })(alert);
  const tone = alert.severity === "critical" ? "stop" : "wait";
  return (
    <li className="alert" data-tone={tone}>
      <div>
        <p className="alert-sentence">
          <Lamp tone={tone} />
          <span>{sentence}</span>
        </p>
        <p>{help}</p>
        {alert.since && (
          <p className="hint">{t.rich("since", { when: () => <RelativeTime at={alert.since ?? ""} /> })}</p>
        )}
      </div>
      <HelpingAct alert={alert} />
    </li>
  );
}

const LINKABLE = new Set(["logged_out", "created", "qr_expired"]);

function HelpingAct({ alert: { key, instance_id: id, status, name } }: { alert: Alert }) {
  const t = useTranslations("home");
  const label = (text: string) => ({
    children: text,
    "aria-label": name === null ? text : `${text}: ${name}`,
  });
  if (id === null) return <LinkButton to="/account">{t("openAccount")}</LinkButton>;
  const params = { id };
  if (key === "webhook_failing")
    return <LinkButton to="/instances/$id/webhooks" params={params} {...label(t("openWebhooks"))} />;
  if (status !== null && LINKABLE.has(status))
    return <LinkButton to="/instances/$id/link" params={params} {...label(t("linkAgain"))} />;
  return <LinkButton to="/instances/$id" params={params} {...label(t("openInstance"))} />;
}
