import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, readMachine } from "../run/process-figures.ts";
import { startTestPostgres } from "../run/test-postgres.ts";
import { type ChaosRow, type Need, type RoundFigures, runRound } from "./chaos-row.ts";
import { brokenBars, type RowReport, toRemarks, toTable, verdictOf } from "./report.ts";
import { f1, f2, f3, f4 } from "./rows/f01-to-f04.ts";
import { f5 } from "./rows/f05-campaigns.ts";
import { f6 } from "./rows/f06-database.ts";
import { f9, f11 } from "./rows/f09-receiver-away.ts";
import { f10 } from "./rows/f10-hostile-receivers.ts";
import { f12 } from "./rows/f12-metadata-server.ts";
import { f13, f14 } from "./rows/f13-redirects.ts";
import { f15 } from "./rows/f15-disk-full.ts";
import { f16 } from "./rows/f16-clock-jump.ts";
import { f17 } from "./rows/f17-partition.ts";
import { f18 } from "./rows/f18-double-start.ts";
import { f19 } from "./rows/f19-stop.ts";
import { f20 } from "./rows/f20-starved-process.ts";
import { f22 } from "./rows/f22-restore-drill.ts";
import { f23 } from "./rows/f23-settings.ts";
import { n3 } from "./rows/n3-three-nodes.ts";
import { n4 } from "./rows/n4-pooler.ts";

/** Every row of the matrix in order. */
export const ROWS: readonly ChaosRow[] = [
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f9,
  f10,
  f11,
  f12,
  f13,
  f14,
  f15,
  f16,
  f17,
  f18,
  f19,
  f20,
  f22,
  f23,
  n3,
  n4,
];

const IS_THERE: Record<Need, () => boolean> = {
  root: isRoot,
  mount: () => isRoot() && runs("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"),
  netns: () => isRoot() && runs("unshare", "--net", "ip", "link", "set", "lo", "up"),
  pgbouncer: () => runs("pgbouncer", "--version"),
};

/** The requirements that this machine does not meet. */
export function findMissing(needs: readonly Need[] = []): Need[] {
  return needs.filter((need) => !IS_THERE[need]());
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function runs(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: randomBytes(4).toString("hex") },
    rounds: { type: "string", default: "5" },
    rows: { type: "string" },
    out: { type: "string" },
  },
});
const { seed } = values;
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds is a whole number, 1 or more");

/** The named rows, or all rows. */
function findRows(named: string | undefined): ChaosRow[] {
  const ids = named?.split(",").map((id) => id.trim().toUpperCase());
  const unknown = ids?.find((id) => !ROWS.some((row) => row.id === id));
  if (unknown !== undefined) {
    throw new Error(`There is no row ${unknown}; there are ${ROWS.map(({ id }) => id).join(", ")}`);
  }
  return ROWS.filter(({ id }) => ids?.includes(id) ?? true);
}

async function runRow(row: ChaosRow, databaseUrl: string): Promise<RowReport> {
  const { id, fault } = row;
  const missing = findMissing(row.needs);
  if (missing.length > 0) {
    console.log(`${id} ${fault}: SKIPPED, this machine has no ${missing.join(", no ")}`);
    return { id, fault, rounds: [], skipped: `no ${missing.join(", no ")}` };
  }
  const report: RowReport = { id, fault, rounds: [] };
  for (let number = 1; number <= rounds; number++) {
    const began = performance.now();
    const figures = await runRound(row, { number, seed, databaseUrl }).catch(brokenRow);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    report.rounds.push({ ...figures, seconds });
    const broken = brokenBars(figures);
    console.log(
      `${id} ${fault}: round ${number} of ${rounds} ${verdictOf({ ...report, rounds: report.rounds.slice(-1) })}, ${seconds} s`,
    );
    for (const bar of broken) console.log(`  ${bar}`);
  }
  return report;
}

function brokenRow(error: unknown): RoundFigures {
  return { breaches: [`the row did not end: ${error instanceof Error ? error.stack : String(error)}`] };
}

// A row awaits its background work at the end, which then reports the failure.
process.on("unhandledRejection", () => {});

const chosen = findRows(values.rows);
const date = new Date().toISOString();
const machine = { ...readMachine(), load_before: loadavg().map((load) => Math.round(load * 10) / 10) };
console.log(`Seed ${seed}, ${rounds} rounds of ${chosen.map(({ id }) => id).join(", ")}`);
console.log(`${date}, ${describeMachine()}\n`);
const postgres = await startTestPostgres();
const reports: RowReport[] = [];
for (const row of chosen) reports.push(await runRow(row, postgres.url));
await postgres.stop();

console.log(`\n${toTable(reports)}\n`);
for (const remark of toRemarks(reports)) console.log(remark);
const out = values.out ?? join(tmpdir(), `waygate-chaos-${date.replaceAll(":", "-")}.json`);
await mkdir(dirname(out), { recursive: true });
await writeFile(out, JSON.stringify({ date, machine, seed, rounds, rows: reports }, null, 2));
console.log(`\nFigures: ${out}`);
// A failed row may have left handles open.
process.exit(reports.some((report) => verdictOf(report) === "FAIL") ? 1 : 0);
