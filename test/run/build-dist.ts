import { execFile, execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { acquireFileLock } from "../../src/platform/files/acquire-file-lock.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NEXT = join(ROOT, "dist/.next");
const PROGRAM = join(ROOT, "dist/program/main.js");
const SOURCES = ["src", "packages/client/src", "packages/webhooks/src", "migrations", "scripts", "test"];

let built: Promise<void> | undefined;

/**
 * Builds `dist` if it is missing or outdated, once for concurrent processes. A test file that starts a built program
 * calls `beforeAll(buildDist)`.
 */
export function buildDist(): Promise<void> {
  built ??= buildIfStale();
  return built;
}

async function buildIfStale(): Promise<void> {
  await mkdir(join(ROOT, "dist"), { recursive: true });
  while (findStale() !== undefined) {
    const lock = await acquireFileLock(join(ROOT, "dist/.building"));
    if (!lock.isAcquired) await sleep(100);
    // Another process may have built it meanwhile.
    else return (findStale() === undefined ? Promise.resolve() : build()).finally(lock.release);
  }
}

async function build(): Promise<void> {
  const startedAt = Date.now();
  const args = [
    join(ROOT, "node_modules/typescript/bin/tsc"),
    "-p",
    "tsconfig.tools.json",
    "--outDir",
    NEXT,
    "--sourceMap",
    "false",
    "--declaration",
    "false",
    // Type checks take ten times as long as the build; `npm run check` does them.
    "--noCheck",
  ];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (_, stdout) => resolve(stdout));
  });
  // Before the programs, because a process that finds these up to date uses everything.
  execFileSync(process.execPath, [join(ROOT, "scripts/copy-reference-ui.mjs")]);
  execFileSync(process.execPath, [join(ROOT, "scripts/bundle-program.mjs"), NEXT]);
  await moveIn();
  // A source may be saved during the build.
  const stale = findStale(startedAt);
  if (stale !== undefined) throw new Error(`The build left ${stale} out of date:\n${output}`);
}

/** Moves each file atomically, because another test run may be starting programs. Removes files of older builds. */
async function moveIn(): Promise<void> {
  const parts = await readdir(join(NEXT, "program"));
  for (const entry of await readdir(NEXT, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = join(ROOT, "dist", relative(NEXT, entry.parentPath));
    await mkdir(folder, { recursive: true });
    await rename(join(entry.parentPath, entry.name), join(folder, entry.name));
  }
  await rm(NEXT, { recursive: true });
  for (const name of await readdir(join(ROOT, "dist/program"))) {
    if (!parts.includes(name)) await rm(join(ROOT, "dist/program", name), { recursive: true });
  }
}

function findStale(savedBefore = Number.POSITIVE_INFINITY): string | undefined {
  for (const folder of SOURCES) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
      const savedAt = modifiedAt(join(ROOT, folder, name));
      const builtAt = modifiedAt(join(ROOT, "dist", folder, name.replace(/\.ts$/, ".js")));
      if (builtAt < savedAt && savedAt < savedBefore) return join(folder, name);
    }
  }
  return modifiedAt(PROGRAM) === 0 ? PROGRAM : undefined;
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
