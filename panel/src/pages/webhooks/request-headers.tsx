import { useTranslations } from "use-intl";
import type { Attempt, Webhook } from "./webhooks-queries.ts";

/** The headers of a delivery; values that are not stored are described. */
export function RequestHeaders({ attempt, webhook }: { attempt: Attempt; webhook: Webhook | undefined }) {
  const t = useTranslations("webhooks.headers");
  const seconds = Math.floor((Date.parse(attempt.created_at) - attempt.duration_ms) / 1_000);
  const rows: [name: string, value: string, help: string][] = [
    ["content-type", "application/json; charset=utf-8", t("type")],
    ["x-waygate-event", attempt.event, t("event")],
    ["x-waygate-event-id", attempt.event_id, t("eventId")],
    ["x-waygate-attempt", String(attempt.attempt), t("attempt")],
    ["x-waygate-instance", `inst_${attempt.instance_id}`, t("instance")],
    ["x-waygate-timestamp", t("about", { value: String(seconds) }), t("timestamp")],
    ["x-waygate-delivery", "dlv_…", t("delivery")],
    ["x-waygate-signature", "sha256=…", t("signature")],
    ["webhook-id", attempt.event_id, t("standardId")],
    ["webhook-timestamp", t("about", { value: String(seconds) }), t("timestamp")],
    ["webhook-signature", "v1,…", t("standard")],
    ...Object.keys(webhook?.headers ?? {}).map((name): [string, string, string] => [name, "****", t("own")]),
  ];
  return (
    <details>
      <summary>{t("title", { count: rows.length })}</summary>
      <table className="table headers">
        <thead>
          <tr>
            <th scope="col">{t("name")}</th>
            <th scope="col">{t("value")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value, help]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <span className="code">{value}</span>
                <span className="hint">{help}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
