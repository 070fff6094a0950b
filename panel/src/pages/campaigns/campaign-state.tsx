import { useFormatter, useTranslations } from "use-intl";
import { StatusDot, type Tone } from "../../components/status-dot.tsx";
import type { Campaign, CampaignTotals, Recipient } from "./campaigns-queries.ts";
import { useAccountZone } from "./use-account-zone.ts";

/** `totals` is null before the start. */
type CampaignState = Pick<Campaign, "status" | "status_reason" | "waiting" | "quiet_hours"> & {
  totals: CampaignTotals | null;
};

const TONES: Readonly<Record<Campaign["status"], Tone>> = {
  created: "neutral",
  scheduled: "info",
  queued: "warning",
  running: "success",
  paused: "warning",
  completed: "success",
  cancelled: "neutral",
  failed: "danger",
};

export function CampaignPill({ campaign: { status, totals } }: { campaign: CampaignState }) {
  const t = useTranslations("campaigns.status");
  const tone = status === "completed" && totals ? toneOf(totals) : TONES[status];
  return (
    <span className="pill" data-tone={tone} data-status={status}>
      <StatusDot tone={tone} />
      {t(status)}
    </span>
  );
}

/** Of a completed campaign. */
function toneOf({ sent, failed }: CampaignTotals): Tone {
  if (failed === 0) return "success";
  return sent === 0 ? "danger" : "warning";
}

const RECIPIENT_TONES: Readonly<Record<Recipient["status"], Tone>> = {
  pending: "neutral",
  queued: "warning",
  sent: "warning",
  delivered: "success",
  read: "success",
  failed: "danger",
  skipped: "info",
  cancelled: "neutral",
};

export function RecipientPill({ status }: { status: Recipient["status"] }) {
  const t = useTranslations("campaigns.recipientStatus");
  return (
    <span className="pill" data-tone={RECIPIENT_TONES[status]}>
      <StatusDot tone={RECIPIENT_TONES[status]} />
      {t(status)}
    </span>
  );
}

const REASONS = [
  "user",
  "error_rate",
  "instance_disconnected",
  "account_restricted",
  "reachout_timelock",
  "instance_removed",
] as const;

/** What the state means and what happens next. */
export function StateSentence({ campaign }: { campaign: CampaignState }) {
  const t = useTranslations("campaigns");
  const format = useFormatter();
  const account = useAccountZone();
  const { status, status_reason, waiting } = campaign;
  const reason = REASONS.find((known) => known === status_reason);
  const { totals } = campaign;
  if (status === "completed" && totals && totals.failed > 0)
    return <p>{t(totals.sent === 0 ? "noneReached" : "someFailed", { ...totals })}</p>;
  if (waiting === null) return <p>{t(reason ? `reason.${reason}` : `stateHelp.${status}`)}</p>;
  const zone = campaign.quiet_hours?.tz ?? account.zone;
  const at = format.dateTime(new Date(waiting.until), {
    dateStyle: "full",
    timeStyle: "short",
    timeZone: zone,
  });
  return <p>{t(`waiting.${waiting.reason}`, { at, zone })}</p>;
}

const RECIPIENT_REASONS = [
  "opted_out",
  "no_consent",
  "erased",
  "empty_message",
  "message_too_long",
  "duplicate",
  "UNKNOWN_OUTCOME",
  "RECIPIENT_NOT_FOUND",
  "SEND_FAILED",
  "INSTANCE_NOT_CONNECTED",
] as const;

/** Why a recipient received nothing. Unknown codes are shown as they are. */
export function useRecipientReason(): (reason: string | null) => string {
  const t = useTranslations("campaigns");
  return (reason) => {
    const known = RECIPIENT_REASONS.find((one) => one === reason);
    return known === undefined ? (reason ?? t("noReason")) : t(`recipientReason.${known}`);
  };
}
