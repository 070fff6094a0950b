import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PLACES = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/google/chrome"];

/** The path of a Chromium on this machine, found on PATH or in the usual places; undefined without one. */
export function findChromium(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...PLACES];
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
