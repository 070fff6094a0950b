import { useTranslations } from "use-intl";
import type { InstanceStatus } from "../gateway/gateway.ts";

const KNOWN = [
  "replaced",
  "pairing_failed",
  "outdated",
  "proxy_not_allowed",
  "sandbox_not_allowed",
  "credentials_unreadable",
  "library_failed",
  "session_failed",
  "connection_lost",
  "rate_limited",
] as const;

/** Why the instance has its status, and what to do. */
export function StatusReason({ status, reason }: { status: InstanceStatus; reason: string | null }) {
  const help = useTranslations("statusHelp");
  const why = useTranslations("reason");
  // The reason describes the last disconnection, which a new connection makes outdated.
  const isPast = status === "connected" || status === "created" || status === "qr_pending";
  const code = isPast ? undefined : KNOWN.find((known) => reason?.split(/[: ]/)[0] === known);
  return (
    <p>
      {code && `${why(code)} `}
      {(code === undefined || status === "reconnecting") && help(status)}
    </p>
  );
}
