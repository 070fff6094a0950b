import { useQuery } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { TimePlot } from "../../components/time-plot.tsx";
import { useRecipientReason } from "./campaign-state.tsx";
import { type Timeline, timelineQuery } from "./campaigns-queries.ts";

export function CampaignReport({ id, isActive }: { id: number; isActive: boolean }) {
  const t = useTranslations("campaigns");
  const { data, error, refetch } = useQuery(timelineQuery(id, isActive));
  return (
    <section className="card" aria-label={t("report")}>
      <h2>{t("report")}</h2>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && data.points.length === 0 && <p className="hint">{t("noOutcomes")}</p>}
      {data && data.points.length > 0 && <Outcomes timeline={data} />}
      {data && data.reasons.length > 0 && <Reasons reasons={data.reasons} />}
    </section>
  );
}

const STEPS_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const MOST_BARS = 130;
/** Keeps a short campaign from being a single wide bar. */
const FEWEST_BARS = 12;

function Outcomes({ timeline: { step, points } }: { timeline: Timeline }) {
  const t = useTranslations("campaigns");
  const filled = fillGaps(points, STEPS_MS[step]);
  return (
    <TimePlot
      title={t("outcomes")}
      times={filled.map(({ at }) => new Date(at))}
      step={step === "day" ? "day" : "hour"}
      series={[
        { key: "read", label: t("figure.read"), tone: "first", values: filled.map(({ read }) => read) },
        {
          key: "delivered",
          label: t("onlyDelivered"),
          tone: "second",
          values: filled.map(({ delivered, read }) => delivered - read),
        },
        {
          key: "sent",
          label: t("onlySent"),
          tone: "third",
          values: filled.map(({ sent, delivered }) => sent - delivered),
        },
        { key: "failed", label: t("figure.failed"), tone: "bad", values: filled.map(({ failed }) => failed) },
      ]}
    />
  );
}

/** Adds empty intervals, which keep the scale of the chart. */
function fillGaps(points: Timeline["points"], stepMs: number): Timeline["points"] {
  const first = Date.parse(points[0]?.at ?? "");
  const length = Math.round((Date.parse(points.at(-1)?.at ?? "") - first) / stepMs) + 1;
  if (length > MOST_BARS) return points;
  const width = Math.max(FEWEST_BARS, length);
  const known = new Map(points.map((point) => [Date.parse(point.at), point]));
  return Array.from({ length: width }, (_, at) => {
    const time = first + at * stepMs;
    const none = { at: new Date(time).toISOString(), sent: 0, delivered: 0, read: 0, failed: 0 };
    return known.get(time) ?? none;
  });
}

function Reasons({ reasons }: { reasons: Timeline["reasons"] }) {
  const t = useTranslations("campaigns");
  const reasonText = useRecipientReason();
  const most = Math.max(...reasons.map(({ count }) => count));
  return (
    <div className="stack">
      <h3>{t("reasons")}</h3>
      <ul className="campaign-reasons">
        {reasons.map(({ status, reason, count }) => (
          <li key={`${status} ${reason}`} data-series={status === "failed" ? "bad" : "third"}>
            <span>{reasonText(reason)}</span>
            <strong>{t("reasonCount", { status, count })}</strong>
            <progress
              className="campaign-figure-bar"
              max={most}
              value={count}
              aria-label={reasonText(reason)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
