import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

export interface Import {
  /** The package, or the path from the project's root. */
  target: string;
  /** Names imported by value; empty for type-only imports. `*` is a namespace, default or side-effect import. */
  values: string[];
}

export interface SourceFile {
  /** From the project's root: `src/platform/http/route.ts`. */
  path: string;
  text: string;
  imports: Import[];
}

const FROM = /^\s*(import|export)\s+(type\s+)?([^;"']*?)\s*from\s*["']([^"']+)["']/gm;
const BARE = /^\s*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm;

/** TypeScript files below a folder; empty if the folder does not exist. */
export function readSources(folder: string, end = /\.ts$/): SourceFile[] {
  return listOwnFiles(folder)
    .filter((path) => end.test(path))
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      return { path, text, imports: readImports(path, text) };
    });
}

/** Files below a folder in a fixed order. */
export function listFiles(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .sort();
}

/** Files of the repository, without installed and built ones. */
export function listOwnFiles(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return path;
      return entry.name === "node_modules" || entry.name === "dist" ? [] : listOwnFiles(path);
    })
    .sort();
}

export function readImports(path: string, text: string): Import[] {
  const found = [...text.matchAll(FROM)].map(([, , isType, names = "", target = ""]) => ({
    target: resolve(path, target),
    values: isType ? [] : valuesOf(names),
  }));
  const bare = [...text.matchAll(BARE)].map(([, effect, dynamic]) => ({
    target: resolve(path, effect ?? dynamic ?? ""),
    values: ["*"],
  }));
  return [...found, ...bare];
}

function valuesOf(names: string): string[] {
  const [outside = "", inside = ""] = names.split(/[{}]/);
  const named = inside
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(" as ")[0]?.trim() ?? name);
  return outside.replace(",", "").trim() === "" ? named : [...named, "*"];
}

function resolve(from: string, target: string): string {
  return target.startsWith(".") ? join(dirname(from), target) : target;
}
