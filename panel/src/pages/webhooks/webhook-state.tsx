import { useTranslations } from "use-intl";
import { RelativeTime } from "../../components/formats.tsx";
import { StatePill, type Tone } from "../../components/status-dot.tsx";
import type { Delivery, Webhook } from "./webhooks-queries.ts";

type State = "off" | "stopped" | "failing" | "waiting" | "working";

const TONES: Readonly<Record<State, Tone>> = {
  off: "neutral",
  stopped: "danger",
  failing: "danger",
  waiting: "info",
  working: "success",
};

export function stateOf(webhook: Webhook): State {
  if (!webhook.is_active) return webhook.disabled_reason === null ? "off" : "stopped";
  if (webhook.failing_since !== null) return "failing";
  return webhook.last_delivery_at === null ? "waiting" : "working";
}

export function WebhookPill({ webhook }: { webhook: Webhook }) {
  const t = useTranslations("webhooks.state");
  const state = stateOf(webhook);
  return <StatePill tone={TONES[state]}>{t(state)}</StatePill>;
}

export function WebhookSentence({ webhook }: { webhook: Webhook }) {
  const t = useTranslations("webhooks.sentence");
  const whyDisabled = useDisabledReason();
  const { failing_since, last_delivery_at } = webhook;
  const state = stateOf(webhook);
  const since = failing_since ?? "";
  const last = last_delivery_at ?? "";
  if (state === "failing") {
    const key = webhook.retry_enabled ? "failing" : "failingOnce";
    return <p>{t.rich(key, { when: () => <RelativeTime at={since} /> })}</p>;
  }
  if (state === "working") return <p>{t.rich("working", { when: () => <RelativeTime at={last} /> })}</p>;
  if (state === "stopped") return <p>{t("stopped", { reason: whyDisabled(webhook) })}</p>;
  return <p>{t(state)}</p>;
}

function useDisabledReason() {
  const t = useTranslations("errors.disabled");
  return ({ disabled_error, disabled_reason }: Webhook) => {
    const { reason, params = {} } = disabled_error ?? {};
    if (reason === "status") return t("status", { status: String(params.status) });
    return reason === "no_success" ? t("no_success", { days: Number(params.days) }) : (disabled_reason ?? "");
  };
}

const DELIVERY_TONES: Readonly<Record<Delivery["status"], Tone>> = {
  pending: "warning",
  retrying: "warning",
  parked: "warning",
  delivered: "success",
  failed: "danger",
  discarded: "neutral",
};

export function DeliveryPill({ status }: Pick<Delivery, "status">) {
  const t = useTranslations("webhooks.delivery");
  return <StatePill tone={DELIVERY_TONES[status]}>{t(status)}</StatePill>;
}

export function AttemptPill({ attempt: { success, status_code } }: { attempt: AttemptOutcome }) {
  const t = useTranslations("webhooks");
  return (
    <StatePill tone={success ? "success" : "danger"}>
      {status_code === null && !success ? t("noAnswer") : t("answered", { status: String(status_code) })}
    </StatePill>
  );
}

interface AttemptOutcome {
  success: boolean;
  status_code: number | null;
}
