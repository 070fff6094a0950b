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

if (isStale()) build(findCompiler());
await import(new URL("../dist/program/main.js", import.meta.url).href);

function isStale() {
  if (!existsSync(main)) return true;
  // An installed package has no sources, only the documents and examples beside the build.
  if (!existsSync(join(root, "src"))) return false;
  const folders = ["src", "migrations", "examples", "packages/client/src", "packages/webhooks/src"];
  return folders.some((name) => newest(join(root, name)) > statSync(main).mtimeMs);
}

function newest(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"));
  return Math.max(
    0,
    ...files.map((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs),
  );
}

function findCompiler() {
  try {
    return join(createRequire(import.meta.url).resolve("typescript/package.json"), "..", "bin", "tsc");
  } catch {
    return undefined;
  }
}

/** Compiles beside and moves into place, so that nobody who starts meanwhile loads half a file. */
function build(compiler) {
  if (!compiler && existsSync(main)) return;
  if (!compiler)
    fail(
      "Waygate is not compiled, and TypeScript is not installed. Run npm ci, without --omit=dev, or npm run build elsewhere.",
    );
  process.stderr.write("Waygate: compiling, once ...\n");
  const draft = join(dist, `.new-${process.pid}`);
  const old = join(dist, `.old-${process.pid}`);
  try {
    mkdirSync(old, { recursive: true });
    run(compiler, "-p", "tsconfig.build.json", "--outDir", draft);
    run(join(root, "scripts", "copy-reference-ui.mjs"), draft);
    run(join(root, "scripts", "bundle-program.mjs"), draft);
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
  const { status } = spawnSync(process.execPath, script, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) fail("Waygate could not be compiled.");
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
