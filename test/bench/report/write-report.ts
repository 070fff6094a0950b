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

/** Writes `<name>.json`, `<name>.md` and `<name>.svg` into the folder. */
export async function writeReport(
  folder: string,
  name: string,
  scenario: Scenario,
  points: readonly PointReport[],
  options: BenchOptions,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const at = new Date().toISOString();
  const { title, plot } = scenario;
  const report = { scenario: name, title, at, machine: readMachine(), options, points };
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(join(folder, `${name}.md`), toMarkdown(name, scenario, points, options, at));
  await writeFile(join(folder, `${name}.svg`), drawBars(title, plot, points));
}

function toMarkdown(
  name: string,
  { title }: Scenario,
  points: readonly PointReport[],
  { adapter, seconds, repetitions }: BenchOptions,
  at: string,
): string {
  const names = [...new Set(points.flatMap(({ figures }) => Object.keys(figures)))];
  const rows = names.map((figure) => [
    figure.replaceAll("_", " "),
    ...points.map(({ figures }) => formatSpread(figures[figure])),
  ]);
  const table = [
    ["Figure", ...points.map(({ label }) => label)],
    ["---", ...points.map(() => "--:")],
    ...rows,
  ];
  return `# ${title}

${adapter} on ${at.slice(0, 10)}, ${describeMachine()}: median of ${repetitions} runs of ${seconds} s, and the least and the
most of them. Gateway, database, network, receiver, load and library share the machine. CPU is for each message.
\`npm run bench -- ${name}\` measures again.

${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}

![${title}](${name}.svg)
`;
}

function formatSpread(spread: Spread | undefined): string {
  if (!spread) return "";
  const { median, least, most } = spread;
  const range = least === most ? "" : ` (${formatFigure(least)} to ${formatFigure(most)})`;
  return `${formatFigure(median)}${range}`;
}
