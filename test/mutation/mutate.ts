import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { AREA_VARIABLE, AREAS, type MutationArea } from "./areas.ts";

type MutantResult = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

/** Percent of the mutants that the tests must notice. */
const GOAL = 85;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: "string", default: "1" } },
});
const unknown = positionals.filter((name) => !(name in AREAS));
if (unknown.length > 0) {
  throw new Error(`No such area: ${unknown.join(", ")}. The areas are ${Object.keys(AREAS).join(", ")}.`);
}
const lines: string[] = [];
for (const [name, area] of Object.entries(AREAS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  lines.push(...(await testArea(name, area)));
}
console.log(lines.join("\n"));

/** Tests every mutant of the area; returns its score and the mutants that no test noticed. */
async function testArea(name: string, area: MutationArea): Promise<string[]> {
  process.env[AREA_VARIABLE] = name;
  const beganAt = performance.now();
  const results = await createStryker(name, area).runMutationTest();
  // A mutant that breaks the start of every test tells nothing about the tests.
  const valid = results.filter(({ status }) => status !== "RuntimeError");
  const survivors = valid.filter(({ status }) => status !== "Killed" && status !== "Timeout");
  const killed = valid.length - survivors.length;
  const percent = (100 * killed) / valid.length;
  if (percent < GOAL) process.exitCode = 1;
  const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
  return [
    "",
    `${name}: ${killed} of ${valid.length} mutants killed (${percent.toFixed(1)} %), ${minutes} minutes`,
    ...survivors.map(describe),
  ];
}

function createStryker(name: string, { mutate, hasDatabase }: MutationArea): Stryker {
  return new Stryker({
    mutate: [...mutate],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "vitest.mutation.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: Number(values.concurrency),
    // Vitest strips the types without checking them.
    disableTypeChecks: false,
    // The compiler has no API that Stryker could read this file with.
    tsconfigFile: "none",
    ignorePatterns: ["/data", "/deploy", "/dist", "/openapi.json", "/test-artifacts"],
    // A busy machine must not turn a survivor into a timeout.
    timeoutMS: hasDatabase ? 30_000 : 15_000,
    reporters: ["progress-append-only", "html", "json"],
    htmlReporter: { fileName: `reports/mutation/${name}.html` },
    jsonReporter: { fileName: `reports/mutation/${name}.json` },
    tempDirName: ".stryker-tmp",
    allowConsoleColors: false,
  });
}

function describe({ fileName, location, mutatorName, status, replacement }: MutantResult): string {
  const { line, column } = location.start;
  const place = `${fileName}:${line}:${column}`;
  return `  ${place} ${mutatorName} ${status}: ${(replacement ?? "").replace(/\s+/g, " ").slice(0, 120)}`;
}
