#!/usr/bin/env node
// Starts the gateway from its compiled form, and compiles it first in a fresh or changed checkout.
// Nothing that an old Node does not have may be loaded before its version is checked.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** As `engines` in package.json. */
const OLDEST = [20, 19];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `Waygate needs Node ${OLDEST.join(".")} or newer; this is Node ${process.versions.node}.\n`,
  );
  process.exit(1);
}

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const main = join(dist, "program", "main.js");
/** The build of the panel writes it last. */
const panel = join(dist, "panel", "files.json");
const SOURCES = ["src", "migrations", "examples", "packages/client/src", "packages/webhooks/src"];
const PANEL_SOURCES = ["panel/src", "panel/index.html", "panel/vite.config.ts", "packages/client/src"];
/** The panel contains the routes of the gateway, and no other code of it. */
const CONTRACTS = /[/\\]contract\.ts$/;

const compiler = findTool("typescript", "bin/tsc");
const isMainStale = isStale(main, SOURCES);
const canBuildPanel = existsSync(join(root, "panel")) && findTool("vite", "bin/vite.js") !== undefined;
const isPanelStale = canBuildPanel && (isStale(panel, PANEL_SOURCES) || isOlder(panel, "src", CONTRACTS));
if (isMainStale || isPanelStale) build();
await import(new URL("../dist/program/main.js", import.meta.url).href);

function isStale(built, sources) {
  // An installed package has no sources, only the documents and examples beside the build.
  if (!existsSync(join(root, "src"))) return !existsSync(built);
  if (!existsSync(built)) return true;
  return sources.some((name) => isOlder(built, name));
}

function isOlder(built, source, which = /./) {
  return newest(join(root, source), which) > statSync(built).mtimeMs;
}

function newest(path, which) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0;
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((name) => which.test(name));
  return Math.max(0, ...files.map((name) => statSync(name).mtimeMs));
}

/** The path of a program of a package; undefined if the package is not installed. */
function findTool(name, path) {
  try {
    return join(createRequire(import.meta.url).resolve(`${name}/package.json`), "..", path);
  } catch {
    return undefined;
  }
}

function build() {
  const canCompile = isMainStale && compiler !== undefined;
  if (isMainStale && !canCompile && !existsSync(main))
    fail(
      "Waygate is not compiled, and TypeScript is not installed. Run npm ci, without --omit=dev, or npm run build elsewhere.",
    );
  if (!canCompile && !isPanelStale) return;
  const parts = [...(isPanelStale ? ["the panel"] : []), ...(canCompile ? ["the gateway"] : [])];
  process.stderr.write(`Waygate: building ${parts.join(" and ")}, once; this takes one to two minutes.\n`);
  const startStep = countSteps(Number(isPanelStale) + (canCompile ? 3 : 0));
  if (isPanelStale) {
    startStep("bundling the panel");
    // The API works without the panel, whose address then says what to do.
    if (!run(join(root, "scripts", "build-panel.mjs")))
      process.stderr.write("The panel could not be built: the gateway starts without it.\n");
  }
  if (canCompile) compile(startStep);
}

/** Shows each step when it begins, since none of them prints anything itself. */
function countSteps(total) {
  let nth = 0;
  return (name) => process.stderr.write(`  ${++nth} of ${total}: ${name} ...\n`);
}

/** Compiles beside and moves into place, so that nobody who starts meanwhile loads half a file. */
function compile(startStep) {
  const draft = join(dist, `.new-${process.pid}`);
  const old = join(dist, `.old-${process.pid}`);
  try {
    mkdirSync(old, { recursive: true });
    const script = (name) => () => run(join(root, "scripts", name), draft);
    const steps = {
      "compiling the gateway": () => run(compiler, "-p", "tsconfig.build.json", "--outDir", draft),
      "copying the reference": script("copy-reference-ui.mjs"),
      "bundling the gateway": script("bundle-program.mjs"),
    };
    for (const [name, runStep] of Object.entries(steps)) {
      startStep(name);
      if (!runStep()) fail("Waygate could not be compiled.");
    }
    // The folder with main.js comes last: its time says that all is up to date.
    const isLast = (folder) => Number(folder === "program");
    for (const folder of readdirSync(draft).sort((a, b) => isLast(a) - isLast(b))) {
      replace(join(dist, folder), join(draft, folder), join(old, folder));
    }
  } finally {
    for (const folder of [draft, old]) rmSync(folder, { recursive: true, force: true });
  }
}

function run(...script) {
  return spawnSync(process.execPath, script, { cwd: root, stdio: ["ignore", 2, 2] }).status === 0;
}

function replace(place, fresh, aside) {
  for (let tries = 1; ; tries++) {
    try {
      if (existsSync(place)) renameSync(place, `${aside}-${tries}`);
      return renameSync(fresh, place);
    } catch (error) {
      // Somebody else who compiles was quicker by a moment.
      if (tries === 5) throw error;
    }
  }
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  for (const name of existsSync(dist) ? readdirSync(dist) : []) {
    if (name.endsWith(`-${process.pid}`)) rmSync(join(dist, name), { recursive: true, force: true });
  }
  process.exit(1);
}
