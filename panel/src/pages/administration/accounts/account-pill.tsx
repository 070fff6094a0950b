import { useTranslations } from "use-intl";
import { Lamp, type Tone } from "../../../components/status-dot.tsx";
import type { ManagedAccount } from "../administration-queries.ts";

const TONES: Readonly<Record<ManagedAccount["status"], Tone>> = {
  active: "go",
  trial: "note",
  paused: "wait",
  blocked: "stop",
  expired: "stop",
  cancelled: "rest",
};

export function AccountPill({ status }: Pick<ManagedAccount, "status">) {
  const t = useTranslations("account.statuses");
  return (
    <span className="pill" data-tone={TONES[status]}>
      <Lamp tone={TONES[status]} />
      {t(status)}
    </span>
  );
}
