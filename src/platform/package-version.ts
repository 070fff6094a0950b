import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The version in package.json, wherever this file is compiled to. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string })
    .version;
}

/** The folder that holds package.json. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isRoot(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function isRoot(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name === "waygate";
  } catch {
    return false;
  }
}
