import { loadavg } from "node:os";
import { openBenchScratch } from "../bench/bench-gateway.ts";
import { describeMachine } from "../run/process-figures.ts";
import type { LoadTestOptions } from "./load-stage.ts";
import { disagreements, type LoadVerdict } from "./load-stage.ts";
import { runSessions } from "./p5-sessions.ts";
import { runBacklog } from "./p6-backlog.ts";
import { runAccept, runDeliveries, runSoak } from "./sends-and-deliveries.ts";

const LOADS: Record<string, (options: LoadTestOptions) => Promise<LoadVerdict>> = {
  P2: runAccept,
  P3: runDeliveries,
  P5: runSessions,
  P6: runBacklog,
  P8: runSoak,
};

function readOptions(words: readonly string[]): LoadTestOptions {
  const options: Record<string, number> = {};
  for (const [index, word] of words.entries()) {
    if (word.startsWith("--")) options[word.slice(2)] = Number(words[index + 1]);
  }
  return options;
}

const words = process.argv.slice(2);
const wanted = words.filter((word) => word in LOADS);
const options = readOptions(words);
const scratch = await openBenchScratch();
const load = loadavg()[0]?.toFixed(1);
console.log(`${new Date().toISOString()}, ${describeMachine()}, load average ${load} before`);
for (const [name, run] of Object.entries(LOADS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const verdict = await run(options);
  const different = disagreements(verdict);
  console.log(
    `${name}: ${different.length === 0 ? "the ledgers agree" : `LEDGERS DIFFER: ${different.join(", ")}`}`,
  );
  for (const missed of verdict.missed) console.log(`${name}: GOAL MISSED: ${missed}`);
  console.log();
  if (different.length + verdict.missed.length > 0) process.exitCode = 1;
}
await scratch.remove();
