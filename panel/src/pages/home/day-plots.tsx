import { useFormatter, useTranslations } from "use-intl";
import { TimePlot } from "../../components/time-plot.tsx";
import type { Overview } from "./overview-query.ts";

type Hour = Overview["hours"][number];

/** Messages and webhook deliveries of the last 24 hours. */
export function DayPlots({ overview: { hours, is_complete } }: { overview: Overview }) {
  const t = useTranslations("home");
  const format = useFormatter();
  const times = hours.map(({ hour }) => new Date(hour));
  const values = (key: Exclude<keyof Hour, "hour">) => hours.map((one) => one[key]);
  const total = (key: Exclude<keyof Hour, "hour">) =>
    format.number(values(key).reduce((sum, one) => sum + one, 0));
  return (
    <section className="stack" aria-label={t("lastDay")}>
      <h2>{t("lastDay")}</h2>
      {!is_complete && <p className="hint">{t("incomplete")}</p>}
      <div className="plots">
        <div className="plate">
          <TimePlot
            title={t("messages")}
            times={times}
            series={[
              { key: "sent", label: t("sent"), tone: "first", values: values("sent") },
              { key: "received", label: t("received"), tone: "second", values: values("received") },
              { key: "failed", label: t("failed"), tone: "bad", values: values("failed") },
            ]}
          />
          <p>
            {t("messagesSum", { sent: total("sent"), received: total("received"), failed: total("failed") })}
          </p>
        </div>
        <div className="plate">
          <TimePlot
            title={t("deliveries")}
            times={times}
            series={[
              { key: "delivered", label: t("delivered"), tone: "first", values: values("delivered") },
              {
                key: "failed_attempts",
                label: t("attempts"),
                tone: "bad",
                values: values("failed_attempts"),
              },
            ]}
          />
          <p>{t("deliveriesSum", { delivered: total("delivered"), failed: total("failed_attempts") })}</p>
        </div>
      </div>
    </section>
  );
}
