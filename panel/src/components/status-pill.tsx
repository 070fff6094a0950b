import { useTranslations } from "use-intl";
import type { InstanceStatus } from "../api/gateway.ts";
import { Lamp, type Tone } from "./lamp.tsx";

const TONES: Readonly<Record<InstanceStatus, Tone>> = {
  created: "rest",
  connecting: "wait",
  qr_pending: "note",
  qr_expired: "rest",
  passkey_required: "note",
  connected: "go",
  reconnecting: "wait",
  disconnected: "stop",
  logged_out: "stop",
  banned: "stop",
  error: "stop",
};

export function StatusPill({ status }: { status: InstanceStatus }) {
  const t = useTranslations("status");
  return (
    <span className="pill" data-tone={TONES[status]}>
      <Lamp tone={TONES[status]} />
      {t(status)}
    </span>
  );
}
