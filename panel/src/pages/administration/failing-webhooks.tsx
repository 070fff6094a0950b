import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { Lamp } from "../../components/lamp.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { useFailureCause } from "../home/use-alert-words.ts";
import type { Monitor } from "./administration-queries.ts";

/** Webhooks whose receivers fail, and those that were switched off for it. */
export function FailingWebhooks({ webhooks }: Pick<Monitor, "webhooks">) {
  const t = useTranslations("administration.webhooks");
  if (webhooks.length === 0) return null;
  return (
    <section className="plate">
      <h2>{t("title")}</h2>
      <ul className="entries" aria-label={t("title")}>
        {webhooks.map((webhook) => (
          <FailingWebhook key={webhook.id} webhook={webhook} />
        ))}
      </ul>
    </section>
  );
}

function FailingWebhook({ webhook }: { webhook: Monitor["webhooks"][number] }) {
  const t = useTranslations("administration.webhooks");
  const disabledHelp = useTranslations("alerts.webhook")("disabledHelp");
  const { last_status: status_code, last_error_class: error_class, is_active } = webhook;
  const { sentence, help } = useFailureCause()({ success: false, status_code, error_class });
  return (
    <li>
      <div>
        <p>
          <strong>{webhook.name}</strong>{" "}
          <span className="hint">
            {webhook.account_id === null
              ? t("global")
              : t("of", { account: webhook.account_id, instance: webhook.instance_id ?? 0 })}
          </span>
        </p>
        <p>
          {sentence} {t("missed", { count: webhook.failed_events })}{" "}
          {webhook.failing_since !== null &&
            t.rich("since", { when: () => <RelativeTime at={webhook.failing_since ?? ""} /> })}
        </p>
        <p className="hint">{is_active ? help : disabledHelp}</p>
        {webhook.account_id !== null && (
          <Link
            to="/administration/logs"
            search={{
              type: "webhooks",
              account: webhook.account_id,
              instance: webhook.instance_id ?? undefined,
              result: "bad",
            }}
          >
            {t("log")}
          </Link>
        )}
      </div>
      <span className="pill" data-tone={is_active ? "wait" : "stop"}>
        <Lamp tone={is_active ? "wait" : "stop"} />
        {t(is_active ? "failing" : "off")}
      </span>
    </li>
  );
}
