import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine, readMachine } from "../run/process-figures.ts";
import { startTestPostgres } from "../run/test-postgres.ts";
import type { ChaosRow, RoundFigures } from "./chaos-row.ts";
import { findMissing } from "./missing-needs.ts";
import { brokenBars, type RowReport, toRemarks, toTable, verdictOf } from "./report.ts";
import { runRound } from "./rounds.ts";
import { ROWS } from "./rows/all.ts";

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

/** The rows that were named, all of them unless some were. */
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

// A row awaits its background work at its end, where the failure then appears.
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
// A row that broke off may have left something open.
process.exit(reports.some((report) => verdictOf(report) === "FAIL") ? 1 : 0);
