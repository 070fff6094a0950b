import { queryOptions } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway, type InstanceStatus } from "../../gateway/gateway.ts";
import { STATUSES } from "../instances/instances-queries.ts";
import { type AttemptResult, type FailureKind, failureKindOf } from "../webhooks/explain-failure.ts";

export interface AlertText {
  sentence: string;
  help: string;
}

/** Failure kinds that alerts show as one cause, "refusal". */
const REFUSALS = new Set<FailureKind>(["unauthorised", "notFound", "method", "gone", "large", "busy"]);

type Cause = Exclude<FailureKind, "unauthorised" | "notFound" | "method" | "gone" | "large" | "busy">;

/** The cause of failed deliveries and its remedy. */
export function useFailureCause() {
  const t = useTranslations("alerts");
  return (attempt: AttemptResult): AlertText => {
    const kind = failureKindOf(attempt);
    const cause: Cause = REFUSALS.has(kind) ? "refusal" : (kind as Cause);
    const status = String(attempt.status_code ?? "");
    return { sentence: t(`webhookCause.${cause}`, { status }), help: t(`webhookHelp.${cause}`) };
  };
}

/** The text of an alert. `isOfOthers` names the account. Unknown keys show the gateway's message. */
export function useAlertTexts({ isOfOthers }: { isOfOthers: boolean }): (alert: Alert) => AlertText {
  const t = useTranslations();
  const cause = useFailureCause();
  return (alert) => {
    const { key, name, status, message, recommended_action } = alert;
    if (key === "webhook_failing" && name !== null) return webhookText(alert, t, cause);
    if (key === "storage_nearly_full" && name !== null) return storageText(alert, t, isOfOthers);
    if (key === "key_renewed" && name !== null)
      return { sentence: t("alerts.keyRenewed", { name }), help: t("alerts.keyRenewedHelp") };
    const known = STATUSES.find((one): one is InstanceStatus => one === status);
    if (key === "instance_lost" && name !== null && known)
      return {
        sentence: t("alerts.instance", { name, status: t(`status.${known}`) }),
        help: t(`statusHelp.${known}`),
      };
    return operatorText(alert, t) ?? { sentence: message, help: recommended_action };
  };
}

type Translate = ReturnType<typeof useTranslations<never>>;

function webhookText(
  { name, status, error_class }: Alert,
  t: Translate,
  cause: ReturnType<typeof useFailureCause>,
): AlertText {
  if (status === "disabled")
    return {
      sentence: t("alerts.webhook.disabled", { name: name ?? "" }),
      help: t("alerts.webhook.disabledHelp"),
    };
  const status_code = status === null || status === "unreachable" ? null : Number(status);
  const { sentence, help } = cause({ success: false, status_code, error_class });
  return { sentence: `${t("alerts.webhook.fails", { name: name ?? "" })} ${sentence}`, help };
}

function storageText({ name, status }: Alert, t: Translate, isOfOthers: boolean): AlertText {
  const percent = Number(status);
  return isOfOthers
    ? { sentence: t("alerts.storageOf", { name: name ?? "", percent }), help: t("alerts.storageOfHelp") }
    : { sentence: t("alerts.storage", { percent }), help: t("alerts.storageHelp") };
}

const QUEUES = ["session", "webhook", "campaign", "integration", "backup", "privacy"] as const;
const NODES: Readonly<Record<string, string>> = {
  no_live_worker: "worker",
  no_live_session_host: "sessions",
};

function operatorText({ key, name, status }: Alert, t: Translate): AlertText | undefined {
  const role = NODES[key];
  if (role !== undefined)
    return { sentence: t("alerts.node", { role }), help: t("alerts.nodeHelp", { role }) };
  if (key === "queue_late") {
    const known = QUEUES.find((one) => one === name);
    const queue = known ? t(`administration.queues.kinds.${known}`) : (name ?? "");
    const seconds = Number(status);
    return { sentence: t("alerts.queue", { queue, seconds }), help: t("alerts.queueHelp") };
  }
  if (key !== "held_back") return undefined;
  const decision = status === "release" || status === "discard" ? status : "none";
  return { sentence: t("alerts.held"), help: t(`alerts.heldHelp.${decision}`) };
}

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: async ({ signal }) => (await gateway.accountOverview({}, { signal })).data,
  refetchInterval: 30_000,
});

export type Overview = Awaited<ReturnType<typeof gateway.accountOverview>>["data"];
export type Alert = Overview["alerts"][number];
