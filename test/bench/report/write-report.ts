import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeMachine, readMachine } from "../../process-figures.ts";
import {
  type BenchOptions,
  formatFigure,
  type PointReport,
  type Scenario,
  type Spread,
} from "../scenario.ts";
import { drawBars } from "./draw-bars.ts";

/** How a report was measured, as far as it may be published: no paths of the machine. */
export type ReportedOptions = Pick<
  BenchOptions,
  "adapter" | "seconds" | "warmUpSeconds" | "repetitions" | "isShort"
>;

/** The content of `<name>.json`. */
export interface StoredReport {
  scenario: string;
  title: string;
  at: string;
  machine: ReturnType<typeof readMachine>;
  options: ReportedOptions;
  points: Pick<PointReport, "label" | "runs" | "figures">[];
}

/** Writes `<name>.json`, `<name>.md` and `<name>.svg` into the folder. */
export async function writeReport(
  folder: string,
  name: string,
  scenario: Scenario,
  points: readonly PointReport[],
  options: ReportedOptions,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const at = new Date().toISOString();
  const { title, plot } = scenario;
  const shown = points.map(({ label, runs, figures }) => ({ label, runs, figures }));
  const report: StoredReport = { scenario: name, title, at, machine: readMachine(), options, points: shown };
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(join(folder, `${name}.md`), toMarkdown(report));
  await writeFile(join(folder, `${name}.svg`), drawBars(title, plot, points));
}

function toMarkdown({ scenario, title, at, options, points }: StoredReport): string {
  const names = [...new Set(points.flatMap(({ figures }) => Object.keys(figures)))];
  const rows = names.map((figure) => [
    figure.replaceAll("_", " "),
    ...points.map(({ figures }) => formatSpread(figures[figure])),
  ]);
  const table = [
    ["Figure", ...points.map(({ label }) => label)],
    ["---", ...points.map(() => "--:")],
    ["runs", ...points.map(({ runs }) => String(runs))],
    ...rows,
  ];
  return `# ${title}

${options.adapter} on ${at.slice(0, 10)}, ${describeMachine()}. The median of the runs, and the least and the most of them. A run
under load takes ${options.seconds} s, after ${options.warmUpSeconds} s of the same load. The gateway, its database, the network, the receiver, the load and the library share
the machine. CPU is for each message. \`npm run bench -- ${scenario}\` measures again.

${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}

![${title}](${scenario}.svg)
`;
}

function formatSpread(spread: Spread | undefined): string {
  if (!spread) return "";
  const { median, least, most } = spread;
  const range = least === most ? "" : ` (${formatFigure(least)} to ${formatFigure(most)})`;
  return `${formatFigure(median)}${range}`;
}
