import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatFigure } from "../scenario.ts";
import { GOALS, type PerformanceGoal } from "./goals.ts";
import type { StoredReport } from "./write-report.ts";

/** Writes `README.md` over all reports of the folder, also those of earlier runs. */
export async function writeOverview(folder: string): Promise<void> {
  const reports = await readReports(folder);
  await writeFile(join(folder, "README.md"), describeReports(reports));
}

async function readReports(folder: string): Promise<StoredReport[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json") && name !== "release.json");
  return Promise.all(
    names.sort().map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8")) as StoredReport),
  );
}

export function describeReports(reports: readonly StoredReport[]): string {
  const goals = GOALS.map((goal) => toRow(goal, reports));
  const measured = reports.map(({ scenario, title, at, machine, points }) =>
    [
      `[${title}](${scenario}.md)`,
      at.slice(0, 10),
      `${machine.node}, ${machine.processors}`,
      Math.max(0, ...points.map(({ runs }) => runs)),
    ].join(" | "),
  );
  return `# Measured performance

\`npm run bench -- all --out=docs/performance\` writes this page. [Performance](../reliability/performance.md) describes the
scenarios.

## Goals

Goals are for two cores with everything on them. Times depend on the machine, so compare ratios and CPU.

| Scenario | Figure | Goal | Median | |
|---|---|--:|--:|---|
${goals.join("\n")}

## Reports

| Report | Measured on | Machine | Runs |
|---|---|---|--:|
${measured.map((cells) => `| ${cells} |`).join("\n")}
`;
}

function toRow(goal: PerformanceGoal, reports: readonly StoredReport[]): string {
  const { scenario, point, figure, text, least, most, times } = goal;
  const report = reports.find((one) => one.scenario === scenario);
  const figures = report?.points.find(({ label }) => label.startsWith(point))?.figures;
  const value = figures?.[figure]?.median;
  const factor = times === undefined ? 1 : figures?.[times]?.median;
  const bound = (least ?? most ?? 0) * (factor ?? 1);
  const isMet = value !== undefined && (least === undefined ? value <= bound : value >= bound);
  const words = `${least === undefined ? "at most" : "at least"} ${formatFigure(least ?? most ?? 0)}${times === undefined ? "" : ` times ${toWords(times)}`}`;
  const verdict = value === undefined ? "not measured" : isMet ? "met" : "missed";
  const cells = [
    `${scenario}: ${point}`,
    `${toWords(figure)}${text === undefined ? "" : ` (${text})`}`,
    words,
    value === undefined ? "" : formatFigure(value),
    verdict,
  ];
  return `| ${cells.join(" | ")} |`;
}

function toWords(figure: string): string {
  return figure.replaceAll("_", " ");
}
