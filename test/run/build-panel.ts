import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { acquireFileLock } from "../../src/platform/files/acquire-file-lock.ts";
import { ROOT } from "../source-files.ts";

/** The build writes this file last. */
const BUILT = join(ROOT, "dist/panel/files.json");

/** Builds the panel into `dist/panel` if it is missing or outdated, once for concurrent processes. */
export async function buildPanel(): Promise<void> {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  while (isStale()) {
    const lock = await acquireFileLock(join(ROOT, "dist/.building-panel"));
    if (!lock.isAcquired) await sleep(100);
    // Another process may have built it meanwhile.
    else await (isStale() ? build() : Promise.resolve()).finally(lock.release);
  }
}

async function build(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts/build-panel.mjs")], { cwd: ROOT });
}

function isStale(): boolean {
  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`);
  const contracts = below("src").filter((name) => name.endsWith("/contract.ts"));
  const files = [...below("panel/src"), ...contracts, "panel/index.html", "panel/vite.config.ts"];
  const scripts = ["scripts/build-panel.mjs", "scripts/compress-panel.mjs"];
  const newest = Math.max(...[...files, ...scripts].map((name) => modifiedAt(join(ROOT, name))));
  return newest >= modifiedAt(BUILT);
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
