import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Replaced modules, clocks and spies, and what is asked of the process itself: none of it ends with its file. */
const CHANGES_ITS_PROCESS = /\bvi\.|\bprocess\.(env|on|once|chdir|umask)\b/;
/** The session library is bent once in each process, see `src/network/whatsapp`. */
const BENDS_A_LIBRARY = /^src\/network\/whatsapp\//;

/** Test files by the process that they run in: loading the gateway anew for each would take a seventh of the suite. */
export function sortByProcess(): { apart: string[]; together: string[] } {
  const files = [...testFilesIn("src"), ...testFilesIn("test")];
  const together = files.filter(mayShare);
  return { apart: files.filter((file) => !together.includes(file)), together };
}

function testFilesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".test.ts")).map((name) => join(folder, name));
}

function mayShare(file: string): boolean {
  if (!file.startsWith("src/") || BENDS_A_LIBRARY.test(file)) return false;
  return !CHANGES_ITS_PROCESS.test(readFileSync(file, "utf8"));
}
