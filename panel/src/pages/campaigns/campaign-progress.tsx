import { useFormatter, useTranslations } from "use-intl";
import { ACTIVE, type CampaignTotals, type CampaignWithTotals } from "./campaigns-queries.ts";

const FIGURES = [
  "sent",
  "delivered",
  "read",
  "failed",
  "skipped",
] as const satisfies readonly (keyof CampaignTotals)[];
const TONES = { sent: "first", delivered: "first", read: "second", failed: "bad", skipped: "third" } as const;

/** How far the campaign has come. */
export function CampaignProgress({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const format = useFormatter();
  const { totals, status } = campaign;
  const done = totals.total - totals.pending - totals.queued;
  if (status === "created")
    return <p className="progress-words">{t("recipientCount", { count: totals.total })}</p>;
  return (
    <section className="plate" aria-label={t("progress")}>
      <div className="stack" aria-live="polite">
        <p className="progress-words">{t("progressOf", { done, total: totals.total })}</p>
        <progress
          className="campaign-bar"
          max={Math.max(1, totals.total)}
          value={done}
          aria-label={t("progress")}
        />
        <TimeLeft campaign={campaign} />
      </div>
      <dl className="campaign-figures">
        {FIGURES.map((name) => (
          <div key={name} data-series={TONES[name]}>
            <dt>{t(`figure.${name}`)}</dt>
            <dd>
              {format.number(totals[name])}
              <progress
                className="campaign-figure-bar"
                max={Math.max(1, totals.total)}
                value={totals[name]}
                aria-label={t(`figure.${name}`)}
              />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const MINUTE_MS = 60_000;

function TimeLeft({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const { status, min_delay_ms, max_delay_ms, totals } = campaign;
  if (!ACTIVE.has(status) || status === "scheduled") return null;
  const left = (totals.pending + totals.queued) * ((min_delay_ms + max_delay_ms) / 2);
  return <p className="hint">{t("timeLeft", { minutes: Math.ceil(left / MINUTE_MS) })}</p>;
}
