import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatFigure, type PointReport } from "../scenario.ts";
import type { GatewayProfile } from "./gateway-profile.ts";
import { groupSamples } from "./group-samples.ts";

const LEAST_SHARE = 0.005;
const TEXT_LENGTH = 80;

/**
 * For each profiled point writes `<name>-<point>.profile.md` with the tables, and beside it the `.cpuprofile` of each node
 * and the log of PostgreSQL for a closer look.
 */
export async function writeProfiles(
  folder: string,
  name: string,
  title: string,
  points: readonly PointReport[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { label, profile } of points) {
    if (!profile) continue;
    const path = join(folder, `${name}-${label.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`);
    await writeFile(`${path}.profile.md`, describeProfile(`${title}: ${label}`, profile));
    for (const [n, cpu] of profile.cpu.entries())
      await writeFile(`${path}.${n + 1}.cpuprofile`, JSON.stringify(cpu));
    await writeFile(`${path}.postgresql.log`, profile.database.log);
  }
}

function describeProfile(title: string, { cpu, database }: GatewayProfile): string {
  const { seconds, commits, walBytes, lockWaits, statements } = database;
  const groups = groupSamples(cpu).filter(({ share }) => share >= LEAST_SHARE);
  const frames = groups.map(({ name, ms, share }) => [
    name,
    `${(share * 100).toFixed(1)} %`,
    formatFigure(ms),
  ]);
  const rows = statements.map(({ text, calls, plans, meanPlanMs, meanExecMs, totalMs }) => [
    `${listWrites(text)}\`${shorten(text)}\``,
    ...[calls, plans, meanPlanMs, meanExecMs, totalMs].map(formatFigure),
  ]);
  return `# Profile of ${title}

${formatFigure(seconds)} s, ${commits} commits, ${formatFigure(walBytes / 1024)} KiB of write-ahead log, ${lockWaits} waits for a lock longer than 100 ms.

## The gateway

Self times on the main thread, as shares of the time that it was not idle.

${toTable(["Part", "Share", "ms"], frames)}

## PostgreSQL

${toTable(["Statement", "Calls", "Plans", "Mean plan ms", "Mean execution ms", "Both in all, ms"], rows)}
`;
}

/** What tells long statements apart that begin alike. */
function listWrites(text: string): string {
  const found = [...text.matchAll(/\b(insert into|update|delete from) "?(?!set\b|skip\b)(\w+)/g)];
  const writes = found.map(([, verb = "", table]) => `${verb.split(" ")[0]} ${table}`);
  return writes.length === 0 ? "" : `${[...new Set(writes)].join(", ")}: `;
}

function shorten(text: string): string {
  const short = text.length > TEXT_LENGTH ? `${text.slice(0, TEXT_LENGTH)} ...` : text;
  return short.replaceAll("|", "\\|").replaceAll("`", "'");
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, n) => (n === 0 ? "---" : "--:"));
  return [head, rule, ...rows].map(line).join("\n");
}
