import { useFormatter, useLocale, useMessages, useTranslations } from "use-intl";
import { Notice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { StatePill, type Tone } from "../../components/status-dot.tsx";
import type { Messages } from "../../i18n/locales.ts";
import type { Integration } from "./integrations-queries.ts";

type Problem = keyof Messages["integrations"]["problem"];

type State = "none" | "off" | "paused" | Integration["status"];

const TONES: Readonly<Record<State, Tone>> = {
  none: "neutral",
  off: "neutral",
  paused: "warning",
  unknown: "info",
  ok: "success",
  warning: "warning",
  failing: "danger",
  auth_error: "danger",
  inactive: "danger",
};

function stateOf(integration: Integration | undefined): State {
  if (integration === undefined) return "none";
  if (!integration.enabled) return "off";
  return integration.paused_until === null ? integration.status : "paused";
}

export function IntegrationPill({ integration }: { integration: Integration | undefined }) {
  const t = useTranslations("integrations.state");
  const state = stateOf(integration);
  return <StatePill tone={TONES[state]}>{t(state)}</StatePill>;
}

export function IntegrationSentence({ integration }: { integration: Integration | undefined }) {
  const t = useTranslations("integrations");
  const format = useFormatter();
  const state = stateOf(integration);
  const until = integration?.paused_until ?? null;
  return (
    <p>
      {t(`sentence.${state}`)}
      {until !== null &&
        ` ${t("pausedUntil", { time: format.dateTime(new Date(until), { timeStyle: "medium" }) })}`}
      {integration !== undefined &&
        integration.waiting > 0 &&
        ` ${t("waiting", { count: integration.waiting })}`}
    </p>
  );
}

/** The last problem in the panel's language if its code is known, otherwise as the gateway reports it. */
export function LastError({ integration }: { integration: Integration }) {
  const locale = useLocale();
  const t = useTranslations("integrations");
  const { integrations } = useMessages() as Messages;
  const { last_error, last_error_code, last_error_at, last_error_is_past, status } = integration;
  if (last_error === null || last_error_at === null) return null;
  const isKnown = locale !== "en" && last_error_code !== null && last_error_code in integrations.problem;
  const tone = last_error_is_past ? "neutral" : status === "warning" ? "warning" : "danger";
  return (
    <Notice tone={tone} title={t(last_error_is_past ? "pastError" : "lastError")}>
      {isKnown && <p>{t(`problem.${last_error_code as Problem}`)}</p>}
      <p lang="en" className={isKnown ? "hint" : undefined}>
        {last_error}
      </p>
      <p className="hint">
        <RelativeTime at={last_error_at} />
      </p>
    </Notice>
  );
}
