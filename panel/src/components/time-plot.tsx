import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleBand, scaleLinear } from "@visx/scale";
import { Bar, LinePath } from "@visx/shape";
import { Fragment, type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import { useFormatter, useTranslations } from "use-intl";

/** Each tone has its own colour in both themes, and a pattern in forced colours. */
export type SeriesTone = "first" | "second" | "third" | "bad";

export interface Series {
  key: string;
  label: string;
  tone: SeriesTone;
  /** One value for each time; null is a gap. */
  values: readonly (number | null)[];
}

interface TimePlotProps {
  title: string;
  times: readonly Date[];
  series: readonly Series[];
  /** Bars are stacked. */
  kind?: "bars" | "lines";
  /** Format of the times on the axis. */
  step?: "hour" | "day";
  /** Formats a value with its unit. */
  format?: (value: number) => string;
}

const HEIGHT = 220;
const LEFT = 52;
const BOTTOM = 28;
const TOP = 8;

/** A time series as a chart and as a table. */
export function TimePlot({ title, kind = "bars", ...props }: TimePlotProps) {
  const id = useId();
  const [frame, width] = useWidth();
  return (
    <figure className="plot" aria-labelledby={id}>
      <figcaption id={id}>
        <h3>{title}</h3>
        <Legend series={props.series} />
      </figcaption>
      <div ref={frame} className="plot-frame">
        {width > 0 && <Picture {...props} kind={kind} width={width} />}
      </div>
      <PlotTable {...props} />
    </figure>
  );
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul className="legend">
      {series.map(({ key, label, tone }) => (
        <li key={key} data-series={tone}>
          {label}
        </li>
      ))}
    </ul>
  );
}

type PictureProps = Omit<TimePlotProps, "title" | "kind"> & { kind: "bars" | "lines"; width: number };

function Picture({ times, series, kind, step = "hour", format, width }: PictureProps) {
  const formatter = useFormatter();
  const write = (at: Date) => formatter.dateTime(at, step === "hour" ? HOUR : DAY);
  const keys = times.map((time) => time.getTime());
  const totals = times.map((_, at) => series.map(({ values }) => values[at] ?? 0));
  const tops = totals.map((values) => (kind === "bars" ? sum(values) : Math.max(0, ...values)));
  const x = scaleBand({ domain: keys, range: [LEFT, width], padding: 0.25 });
  const y = scaleLinear({ domain: [0, Math.max(1, ...tops)], range: [HEIGHT - BOTTOM, TOP], nice: true });
  // Values without a unit are counts, so only whole ones get a tick.
  const marks = y.ticks(4).filter((value) => format !== undefined || Number.isInteger(value));
  const numTicks = Math.max(2, Math.floor(width / 90));
  const every = Math.max(1, Math.ceil(keys.length / numTicks));
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true" className="plot-picture">
      <AxisLeft
        scale={y}
        left={LEFT}
        tickValues={marks}
        hideAxisLine
        hideTicks
        tickFormat={(value) => (format ?? ((one: number) => formatter.number(one)))(Number(value))}
        tickClassName="plot-tick"
      />
      {marks.map((value) => (
        <line key={value} className="plot-grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
      ))}
      <AxisBottom
        scale={x}
        top={HEIGHT - BOTTOM}
        tickValues={keys.filter((_, at) => at % every === 0)}
        tickFormat={(value) => write(new Date(Number(value)))}
        hideTicks
        axisLineClassName="plot-line"
        tickClassName="plot-tick"
      />
      {kind === "bars" ? (
        <Bars keys={keys} series={series} x={x} y={y} />
      ) : (
        <Lines keys={keys} series={series} x={x} y={y} />
      )}
    </svg>
  );
}

const HOUR = { timeStyle: "short" } as const;
const DAY = { day: "numeric", month: "short" } as const;

interface MarksProps {
  keys: readonly number[];
  series: readonly Series[];
  x: ReturnType<typeof scaleBand<number>>;
  y: ReturnType<typeof scaleLinear<number>>;
}

function Bars({ keys, series, x, y }: MarksProps) {
  return keys.map((key, at) => {
    let below = 0;
    return series.map(({ key: name, tone, values }) => {
      const from = below;
      below += values[at] ?? 0;
      if (below === from) return null;
      return (
        <Bar
          key={`${key} ${name}`}
          data-series={tone}
          className="plot-bar"
          x={x(key)}
          width={x.bandwidth()}
          y={y(below)}
          height={y(from) - y(below)}
        />
      );
    });
  });
}

/** A value between two gaps has no line, so it is drawn as a dot. */
function Lines({ keys, series, x, y }: MarksProps) {
  const middle = x.bandwidth() / 2;
  return series.map(({ key, tone, values }) => (
    <Fragment key={key}>
      <LinePath
        data-series={tone}
        className="plot-path"
        data={keys.map((time, at) => ({ time, value: values[at] ?? null }))}
        defined={({ value }) => value !== null}
        x={({ time }) => (x(time) ?? 0) + middle}
        y={({ value }) => y(value ?? 0)}
      />
      {keys.map((time, at) => {
        const value = values[at] ?? null;
        if (value === null || (values[at - 1] ?? null) !== null || (values[at + 1] ?? null) !== null)
          return null;
        return (
          <circle
            key={time}
            data-series={tone}
            className="plot-bar"
            cx={(x(time) ?? 0) + middle}
            cy={y(value)}
            r={3}
          />
        );
      })}
    </Fragment>
  ));
}

/** The values as a table, for screen readers and for exact figures. */
function PlotTable({ times, series, step = "hour", format }: Omit<TimePlotProps, "title" | "kind">) {
  const t = useTranslations("common");
  const formatter = useFormatter();
  const write = (value: number | null | undefined) =>
    value === null || value === undefined ? "—" : (format ?? ((one: number) => formatter.number(one)))(value);
  return (
    <details className="plot-table">
      <summary>{t("asTable")}</summary>
      <div className="table-frame">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t("time")}</th>
              {series.map(({ key, label }) => (
                <th key={key} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, at) => (
              <tr key={time.getTime()}>
                <th scope="row">{formatter.dateTime(time, step === "hour" ? { ...DAY, ...HOUR } : DAY)}</th>
                {series.map(({ key, values }) => (
                  <td key={key}>{write(values[at])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

/** The width of an element in px, updated on resize; 0 before the first layout. */
function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const shown = element.current;
    if (shown === null) return;
    setWidth(shown.clientWidth);
    const observer = new ResizeObserver(() => setWidth(shown.clientWidth));
    observer.observe(shown);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
