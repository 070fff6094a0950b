import { useFormatter, useTranslations } from "use-intl";
import type { Tone } from "../../components/lamp.tsx";
import { Notice } from "../../components/notice.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { StatePill } from "../../components/state-pill.tsx";
import type { Integration } from "./integrations-queries.ts";

type State = "none" | "off" | "paused" | Integration["status"];

const TONES: Readonly<Record<State, Tone>> = {
  none: "rest",
  off: "rest",
  paused: "wait",
  unknown: "note",
  ok: "go",
  warning: "wait",
  failing: "stop",
  auth_error: "stop",
  inactive: "stop",
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

/** The last problem in the gateway's words, which name its remedy. */
export function LastError({ integration }: { integration: Integration }) {
  const t = useTranslations("integrations");
  const { last_error, last_error_at, last_error_is_past, status } = integration;
  if (last_error === null || last_error_at === null) return null;
  const tone = last_error_is_past ? "rest" : status === "warning" ? "wait" : "stop";
  return (
    <Notice tone={tone} title={t(last_error_is_past ? "pastError" : "lastError")}>
      <p>{last_error}</p>
      <p className="hint">
        <RelativeTime at={last_error_at} />
      </p>
    </Notice>
  );
}
