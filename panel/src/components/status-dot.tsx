import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import type { InstanceStatus } from "../gateway/gateway.ts";

export type Tone = "success" | "warning" | "danger" | "info" | "neutral";

/** The shape repeats the meaning of the colour, for readers who cannot tell colours apart. */
const SHAPES: Readonly<Record<Tone, string>> = {
  success: "M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0z",
  warning: "M5 0v10A5 5 0 0 1 5 0zm0 1.2v7.6a3.8 3.8 0 0 0 0-7.6z",
  danger: "M0.5 0.5h9v9h-9z",
  info: "M5 0l5 9.5H0z",
  neutral: "M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0zm0 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
};

export function StatusDot({ tone }: { tone: Tone }) {
  return (
    <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <path d={SHAPES[tone]} fill="currentColor" fillRule="evenodd" />
    </svg>
  );
}

/** A status label with its dot. */
export function StatePill({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="pill" data-tone={tone}>
      <StatusDot tone={tone} />
      {children}
    </span>
  );
}

const TONES: Readonly<Record<InstanceStatus, Tone>> = {
  created: "neutral",
  connecting: "warning",
  qr_pending: "info",
  qr_expired: "neutral",
  passkey_required: "info",
  connected: "success",
  reconnecting: "warning",
  disconnected: "danger",
  logged_out: "danger",
  banned: "danger",
  error: "danger",
};

export function StatusPill({ status }: { status: InstanceStatus }) {
  const t = useTranslations("status");
  return (
    <span className="pill" data-tone={TONES[status]}>
      <StatusDot tone={TONES[status]} />
      {t(status)}
    </span>
  );
}
