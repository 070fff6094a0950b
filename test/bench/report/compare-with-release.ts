import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packageRoot } from "../../../src/platform/config/package-version.ts";
import { formatFigure, type PointReport } from "../scenario.ts";

/** Ratios to a limit that was measured in the same run, by scenario, point and figure. */
type Ratios = Record<string, number>;

const RELEASE_FILE = join(packageRoot(), "docs/performance/release.json");

export function toRatios(scenario: string, points: readonly PointReport[]): Ratios {
  const entries = points.flatMap(({ label, figures }) =>
    Object.entries(figures)
      .filter(([name]) => name.startsWith("ratio_"))
      .map(([name, { median }]) => [`${scenario}, ${label}: ${name.replaceAll("_", " ")}`, median] as const),
  );
  return Object.fromEntries(entries);
}

/** A table of the ratios beside those of the last release. It reports: a slow machine is no defect. */
export async function compareWithRelease(ratios: Ratios): Promise<string> {
  const text = await readFile(RELEASE_FILE, "utf8").catch(() => "{}");
  const release = JSON.parse(text) as Ratios;
  const rows = Object.entries(ratios).map(([name, ratio]) => {
    const before = release[name];
    return `| ${name} | ${formatFigure(ratio)} | ${before === undefined ? "not measured" : formatFigure(before)} |`;
  });
  return ["| Ratio | now | last release |", "|---|--:|--:|", ...rows].join("\n");
}

/** Keeps the ratios of a short run for the comparisons of later ones. */
export async function saveReleaseRatios(ratios: Ratios): Promise<void> {
  await mkdir(dirname(RELEASE_FILE), { recursive: true });
  await writeFile(RELEASE_FILE, `${JSON.stringify(ratios, null, 2)}\n`);
}
