import { cpus, loadavg, totalmem } from "node:os";
import { runAccept } from "./p2-accept.ts";
import { runDeliveries, runEveryId } from "./p3-deliveries.ts";
import { runSessions } from "./p5-sessions.ts";
import { runBacklog } from "./p6-backlog.ts";
import { runSoak } from "./p8-soak.ts";

/** What may be said on the command line, `--seconds 30`; each load has its own defaults. */
export interface LoadOptions {
  seconds?: number;
  /** A second. */
  rate?: number;
  sessions?: number;
  jobs?: number;
}

/** Answers whether every ledger agrees; figures are printed, since they depend on the machine. */
const LOADS: Record<string, (options: LoadOptions) => Promise<boolean>> = {
  P2: runAccept,
  P3: runDeliveries,
  P4: runEveryId,
  P5: runSessions,
  P6: runBacklog,
  P8: runSoak,
};

function readOptions(words: readonly string[]): LoadOptions {
  const options: Record<string, number> = {};
  for (const [index, word] of words.entries()) {
    if (word.startsWith("--")) options[word.slice(2)] = Number(words[index + 1]);
  }
  return options;
}

const words = process.argv.slice(2);
const wanted = words.filter((word) => word in LOADS);
const options = readOptions(words);
const { model = "unknown" } = cpus()[0] ?? {};
const load = loadavg()[0]?.toFixed(1);
console.log(
  `${new Date().toISOString()}, Node ${process.version}, ${cpus().length} x ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB, load average ${load} before`,
);
for (const [name, run] of Object.entries(LOADS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const isGood = await run(options);
  console.log(`${name}: the ledgers ${isGood ? "agree" : "DO NOT AGREE, or a goal is missed"}\n`);
  if (!isGood) process.exitCode = 1;
}
