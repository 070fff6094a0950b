import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./source-files.ts";

const BUILT = join(ROOT, "dist/panel/index.html");

/** Builds the panel into `dist/panel` when it is missing or older than its sources. */
export async function buildPanel(): Promise<void> {
  if (newestSource() < modifiedAt(BUILT)) return;
  await promisify(execFile)(process.execPath, [join(ROOT, "scripts/build-panel.mjs")], { cwd: ROOT });
}

function newestSource(): number {
  const names = readdirSync(join(ROOT, "panel/src"), { recursive: true, encoding: "utf8" });
  const files = [...names.map((name) => `src/${name}`), "index.html", "vite.config.ts"];
  return Math.max(...files.map((name) => modifiedAt(join(ROOT, "panel", name))));
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
