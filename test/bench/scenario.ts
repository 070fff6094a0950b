import { percentile } from "../run/process-figures.ts";

/** The name contains the unit. `ratio_...` compares with a limit measured in the same run. */
export type Figures = Record<string, number>;

export interface BenchOptions {
  seconds: number;
  warmUpSeconds: number;
  repetitions: number;
  /** Fewer and smaller points, for a run of a few minutes. */
  isShort: boolean;
}

/** One repeatable load. */
export interface MeasuredPoint {
  label: string;
  measure(): Promise<Figures>;
}

export interface Scenario {
  title: string;
  open(options: BenchOptions): Promise<{ points: MeasuredPoint[]; close(): Promise<void> }>;
}

interface PointReport {
  label: string;
  runs: Figures[];
}

/** Runs the points of a scenario in turn, several times. `failures` lists failed runs. */
export async function runScenario(
  scenario: Scenario,
  options: BenchOptions,
): Promise<{ points: PointReport[]; failures: string[] }> {
  const failures: string[] = [];
  const { points, close } = await scenario.open(options);
  const reports = points.map(({ label, measure }) => ({ label, measure, runs: [] as Figures[] }));
  for (let n = 1; n <= options.repetitions; n++) {
    for (const { label, measure, runs } of reports) {
      try {
        runs.push(await measure());
        console.log(`${label}, run ${n} of ${options.repetitions}: ${describeFigures(runs.at(-1) ?? {})}`);
      } catch (error) {
        failures.push(`${label}, run ${n}: ${error instanceof Error ? error.stack : error}`);
      }
    }
  }
  await close().catch((error: unknown) => failures.push(`The end of the scenario: ${error}`));
  return { points: reports.filter(({ runs }) => runs.length > 0), failures };
}

/** One row for each figure and one column for each point: median, minimum and maximum. */
export function toTable(points: readonly PointReport[]): string {
  const names = [...new Set(points.flatMap(({ runs }) => runs.flatMap((figures) => Object.keys(figures))))];
  const rows = names.map((name) => {
    const cells = points.map(({ runs }) => spreadOf(runs.flatMap((figures) => figures[name] ?? [])));
    return `| ${[name.replaceAll("_", " "), ...cells].join(" | ")} |`;
  });
  const head = `| | ${points.map(({ label }) => label).join(" | ")} |`;
  return [head, `|---|${points.map(() => "--:|").join("")}`, ...rows].join("\n");
}

function spreadOf(values: number[]): string {
  if (values.length === 0) return "";
  const [median, least, most] = [percentile(values, 0.5), Math.min(...values), Math.max(...values)];
  return `${formatFigure(median)} (${formatFigure(least)} to ${formatFigure(most)})`;
}

function describeFigures(figures: Figures): string {
  const entries = Object.entries(figures);
  return entries.map(([name, value]) => `${name.replaceAll("_", " ")} ${formatFigure(value)}`).join(", ");
}

/** Three significant digits, and whole numbers from 100 on. */
function formatFigure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
