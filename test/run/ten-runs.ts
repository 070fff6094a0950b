import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../../src/platform/package-version.ts";

// Runs `npm test` repeatedly beside busy programs to find flaky tests: `npm run test:ten`, or `npm run test:ten -- 3
// src/engine` for three runs of one folder.

interface Run {
  number: number;
  /** Seed of the random file order. */
  seed: number | undefined;
}

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

const FOLDER = join(packageRoot(), "test-artifacts/ten-runs");
const BUSY_LOOPS = 6;

const [runs = "10", ...files] = process.argv.slice(2);
const count = Number(runs);
if (!Number.isSafeInteger(count) || count < 1) {
  console.error(`"${runs}" is not a number of runs. Name one from 1, or none for ten runs.`);
  process.exit(2);
}
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
keepBusy();
let failed = 0;
for (let number = 1; number <= count; number++) {
  const run = { number, seed: number === count ? Date.now() % 1_000_000 : undefined };
  const began = performance.now();
  const exitCode = await runSuite(run);
  const seconds = Math.round((performance.now() - began) / 1000);
  const failures = await readFailures(run, exitCode);
  console.log(
    `Run ${number} of ${count}${describe(run)}: ${failures.length === 0 ? "passed" : "FAILED"}, ${seconds} s`,
  );
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length > 0) failed += 1;
}
console.log(
  failed === 0 ? "Every run passed." : `${failed} of ${count} runs failed. Their output is in ${FOLDER}.`,
);
process.exitCode = failed === 0 ? 0 : 1;

async function runSuite({ number, seed }: Run): Promise<number | null> {
  const args = [...files, "--reporter=default", "--reporter=json", `--outputFile.json=${reportOf(number)}`];
  if (seed !== undefined) args.push("--sequence.shuffle.files", `--sequence.seed=${seed}`);
  const suite = spawn("npm", ["test", "--silent", "--", ...args], {
    cwd: packageRoot(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(join(FOLDER, `run-${number}.log`));
  suite.stdout.pipe(log, { end: false });
  suite.stderr.pipe(log, { end: false });
  const [code] = (await once(suite, "close")) as [number | null];
  log.end();
  return code;
}

/** Busy programs that end with this one. */
function keepBusy(): void {
  for (let nth = 0; nth < BUSY_LOOPS; nth++) {
    const child = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
    child.unref();
    process.once("exit", () => child.kill("SIGKILL"));
  }
}

async function readFailures({ number }: Run, exitCode: number | null): Promise<string[]> {
  const text = await readFile(reportOf(number), "utf8").catch(() => undefined);
  if (text === undefined) return [`The run ended with ${exitCode} and without a report.`];
  const { testResults } = JSON.parse(text) as Report;
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === "failed");
    if (tests.length === 0) return status === "failed" ? [`${name}: ${firstLine(message)}`] : [];
    return tests.map(
      ({ fullName, failureMessages: [why = ""] }) => `${name}: ${fullName}: ${firstLine(why)}`,
    );
  });
  return failures.length === 0 && exitCode !== 0
    ? [`The run ended with ${exitCode}; no test failed.`]
    : failures;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function reportOf(number: number): string {
  return join(FOLDER, `run-${number}.json`);
}

function describe({ seed }: Run): string {
  return seed === undefined ? "" : ` in the random order of seed ${seed}`;
}
