import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { TimePlot } from "../../components/time-plot.tsx";
import { figuresQuery } from "./webhooks-queries.ts";

interface WebhookPlotsProps {
  id: number;
  /** Undefined for all webhooks of the instance. */
  webhookId?: number;
  period: "day" | "week";
}

/** Success rate and latency of the deliveries. */
export function WebhookPlots({ id, webhookId, period }: WebhookPlotsProps) {
  const t = useTranslations("webhooks.figures");
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(figuresQuery(id, period, webhookId));
  const change = (next: "day" | "week") =>
    void navigate({ to: ".", search: next === "week" ? { period: next } : {}, replace: true });
  return (
    <section className="card" aria-labelledby="figures">
      <div className="section-head">
        <h2 id="figures">{t("title")}</h2>
        <PickList
          label={t("period")}
          value={period}
          options={{ day: t("day"), week: t("week") }}
          onChange={change}
        />
      </div>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!error && !data && <LoadingState />}
      {data && data.total.succeeded + data.total.failed === 0 && <p className="hint">{t("none")}</p>}
      {data && data.total.succeeded + data.total.failed > 0 && <Plots figures={data} period={period} />}
    </section>
  );
}

type Figures = NonNullable<Awaited<ReturnType<NonNullable<ReturnType<typeof figuresQuery>["queryFn"]>>>>;

function Plots({ figures, period }: { figures: Figures; period: "day" | "week" }) {
  const t = useTranslations("webhooks.figures");
  const format = useFormatter();
  const { total, steps, is_cut } = figures;
  const times = steps.map(({ at }) => new Date(at));
  const step = period === "day" ? "hour" : "day";
  const duration = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${format.number(ms / 1_000)} s`);
  const durationIfAny = (ms: number | null) => (ms === null ? "—" : duration(ms));
  const rate = total.succeeded / (total.succeeded + total.failed);
  const facts = {
    rate: format.number(rate, { style: "percent", maximumFractionDigits: 1 }),
    succeeded: format.number(total.succeeded),
    failed: format.number(total.failed),
    median: durationIfAny(total.median_ms),
    p95: durationIfAny(total.p95_ms),
  };
  return (
    <>
      {is_cut && <p className="hint">{t("cut")}</p>}
      <dl className="totals">
        {(Object.keys(facts) as (keyof typeof facts)[]).map((name) => (
          <div key={name}>
            <dt>{t(name)}</dt>
            <dd>{facts[name]}</dd>
          </div>
        ))}
      </dl>
      <div className="plots">
        <TimePlot
          title={t("attempts")}
          times={times}
          step={step}
          series={[
            { key: "ok", label: t("succeeded"), tone: "first", values: steps.map((one) => one.succeeded) },
            { key: "bad", label: t("failed"), tone: "bad", values: steps.map((one) => one.failed) },
          ]}
        />
        <TimePlot
          title={t("latency")}
          kind="lines"
          times={times}
          step={step}
          format={duration}
          series={[
            { key: "p50", label: t("median"), tone: "first", values: steps.map((one) => one.median_ms) },
            { key: "p95", label: t("p95"), tone: "second", values: steps.map((one) => one.p95_ms) },
          ]}
        />
      </div>
    </>
  );
}
