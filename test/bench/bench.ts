import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "../run/process-figures.ts";
import { openBenchScratch } from "./bench-gateway.ts";
import { runScenario, type Scenario, toTable } from "./scenario.ts";
import { inbound, trickle } from "./scenarios/inbound.ts";
import { sends, starts } from "./scenarios/sends.ts";

const SCENARIOS: Readonly<Record<string, Scenario>> = { starts, sends, inbound, trickle };

/** Names choose scenarios; without names all run. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string" },
    /** Seconds of load before each run. */
    "warm-up": { type: "string" },
    repetitions: { type: "string" },
    /** Output folder of the tables; the default is ignored by git. */
    out: { type: "string", default: "test-artifacts/bench" },
    /** Fewer and smaller points, for a run of a few minutes. */
    short: { type: "boolean", default: false },
  },
});
const options = {
  seconds: Number(values.seconds ?? (values.short ? 5 : 10)),
  warmUpSeconds: Number(values["warm-up"] ?? (values.short ? 2 : 3)),
  repetitions: Number(values.repetitions ?? (values.short ? 3 : 5)),
  isShort: values.short,
};
const unknown = positionals.filter((name) => !(name in SCENARIOS));
if (unknown.length > 0)
  throw new Error(
    `There is no bench ${unknown.join(", ")}. There are: ${Object.keys(SCENARIOS).join(", ")}.`,
  );

const scratch = await openBenchScratch();
const failures: string[] = [];
await mkdir(values.out, { recursive: true });
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const report = await runScenario(scenario, options);
  failures.push(...report.failures.map((failure) => `${name}: ${failure}`));
  const table = `# ${scenario.title}\n\n${new Date().toISOString()}, ${describeMachine()}\n\n${toTable(report.points)}\n`;
  console.log(`\n${table}`);
  await writeFile(join(values.out, `${name}.md`), table);
}
await scratch.remove();
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
