import { useFormatter, useTranslations } from "use-intl";
import { type SeriesTone, TimePlot } from "../../components/time-plot.tsx";
import type { Overview } from "./overview-query.ts";

type Hour = Overview["hours"][number];

/** Messages and webhook deliveries of the last 24 hours. */
export function DayPlots({ overview: { hours, is_complete } }: { overview: Overview }) {
  const t = useTranslations("home");
  return (
    <section className="stack" aria-label={t("lastDay")}>
      <h2>{t("lastDay")}</h2>
      {!is_complete && <p className="hint">{t("incomplete")}</p>}
      <div className="plots">
        <HoursPlot
          title={t("messages")}
          empty={t("noMessages")}
          hours={hours}
          series={[
            { key: "sent", label: t("sent"), tone: "first" },
            { key: "received", label: t("received"), tone: "second" },
            { key: "failed", label: t("failed"), tone: "bad" },
          ]}
          sentence={({ sent = "", received = "", failed = "" }) =>
            t("messagesSum", { sent, received, failed })
          }
        />
        <HoursPlot
          title={t("deliveries")}
          empty={t("noDeliveries")}
          hours={hours}
          series={[
            { key: "delivered", label: t("delivered"), tone: "first" },
            { key: "failed_attempts", label: t("attempts"), tone: "bad" },
          ]}
          sentence={({ delivered = "", failed_attempts: failed = "" }) =>
            t("deliveriesSum", { delivered, failed })
          }
        />
      </div>
    </section>
  );
}

interface HoursPlotProps {
  title: string;
  /** Instead of a plot without values. */
  empty: string;
  hours: readonly Hour[];
  series: readonly { key: Exclude<keyof Hour, "hour">; label: string; tone: SeriesTone }[];
  /** The sums by key, as a sentence. */
  sentence(sums: Partial<Record<string, string>>): string;
}

function HoursPlot({ title, empty, hours, series, sentence }: HoursPlotProps) {
  const format = useFormatter();
  const shown = series.map((one) => ({ ...one, values: hours.map((hour) => hour[one.key]) }));
  const sums = shown.map(({ key, values }) => ({ key, sum: values.reduce((all, value) => all + value, 0) }));
  if (sums.every(({ sum }) => sum === 0))
    return (
      <div className="plate">
        <h3>{title}</h3>
        <p className="hint">{empty}</p>
      </div>
    );
  return (
    <div className="plate">
      <TimePlot title={title} times={hours.map(({ hour }) => new Date(hour))} series={shown} />
      <p>{sentence(Object.fromEntries(sums.map(({ key, sum }) => [key, format.number(sum)])))}</p>
    </div>
  );
}
