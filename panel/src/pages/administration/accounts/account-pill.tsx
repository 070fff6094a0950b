import { useTranslations } from "use-intl";
import { StatusDot, type Tone } from "../../../components/status-dot.tsx";
import type { ManagedAccount } from "../administration-queries.ts";

const TONES: Readonly<Record<ManagedAccount["status"], Tone>> = {
  active: "success",
  trial: "info",
  paused: "warning",
  blocked: "danger",
  expired: "danger",
  cancelled: "neutral",
};

export function AccountPill({ status }: Pick<ManagedAccount, "status">) {
  const t = useTranslations("account.statuses");
  return (
    <span className="pill" data-tone={TONES[status]}>
      <StatusDot tone={TONES[status]} />
      {t(status)}
    </span>
  );
}
