import { percentile } from "../process-figures.ts";

/** Its name says its unit; `ratio_...` compares with a limit that was measured in the same run. */
export type Figures = Record<string, number>;

export interface BenchOptions {
  adapter: string;
  seconds: number;
  warmUpSeconds: number;
  repetitions: number;
  /** Fewer and smaller points, for a run of a few minutes. */
  isShort: boolean;
}

/** One load, in a form that can be measured again and again. */
export interface MeasuredPoint {
  label: string;
  measure(): Promise<Figures>;
}

export interface Scenario {
  title: string;
  /** What the plot shows, and the limit beside it. */
  plot: { figure: string; limit?: string };
  open(options: BenchOptions): Promise<{ points: MeasuredPoint[]; close(): Promise<void> }>;
}

/** Over all repetitions. */
export interface Spread {
  median: number;
  least: number;
  most: number;
}

export interface PointReport {
  label: string;
  figures: Record<string, Spread>;
}

/** Repetitions take turns over the points, so that a slow minute of the machine meets all of them. */
export async function runScenario(scenario: Scenario, options: BenchOptions): Promise<PointReport[]> {
  const { points, close } = await scenario.open(options);
  const runs = points.map((): Figures[] => []);
  try {
    for (let n = 0; n < options.repetitions; n++) {
      for (const [place, point] of points.entries()) {
        const figures = await point.measure();
        runs[place]?.push(figures);
        console.log(`${point.label}, run ${n + 1} of ${options.repetitions}: ${describeFigures(figures)}`);
      }
    }
  } finally {
    await close();
  }
  return points.map(({ label }, place) => ({ label, figures: toSpreads(runs[place] ?? []) }));
}

function describeFigures(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${formatFigure(value)}`)
    .join(", ");
}

/** Three significant digits, and whole numbers from 100 on. */
export function formatFigure(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return String(Number(value.toPrecision(3)));
}

function toSpreads(runs: readonly Figures[]): Record<string, Spread> {
  const names = [...new Set(runs.flatMap((figures) => Object.keys(figures)))];
  return Object.fromEntries(
    names.map((name) => {
      const values = runs.map((figures) => figures[name] ?? Number.NaN);
      const spread = {
        median: percentile(values, 0.5),
        least: Math.min(...values),
        most: Math.max(...values),
      };
      return [name, spread];
    }),
  );
}
