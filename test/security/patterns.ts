import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ParserPlugin, parse } from "@babel/parser";
import { listFiles, ROOT } from "../source-files.ts";

/** A regular expression as it stands in a source. */
export interface Pattern {
  /** `src/platform/log/log.ts:12`. */
  place: string;
  source: string;
  flags: string;
}

export interface FoundPatterns {
  literals: Pattern[];
  /** Places of `RegExp(...)`: what such a pattern is made of cannot be checked here. */
  constructors: string[];
}

interface Node {
  type: string;
  loc?: { start: { line: number } };
  [key: string]: unknown;
}

/** Every regular expression of the program and of the panel, by its syntax tree. */
export function findPatterns(): FoundPatterns {
  const found: FoundPatterns = { literals: [], constructors: [] };
  const sources = [...listFiles("src"), ...listFiles("panel/src")].filter((path) => /\.tsx?$/.test(path));
  for (const path of sources) {
    if (!path.endsWith(".test.ts")) readPatterns(path, readFileSync(join(ROOT, path), "utf8"), found);
  }
  return found;
}

export function readPatterns(path: string, text: string, found: FoundPatterns): void {
  const plugins: ParserPlugin[] = path.endsWith(".tsx") ? ["typescript", "jsx"] : ["typescript"];
  const tree = parse(text, { sourceType: "module", plugins });
  visit(tree.program, (node) => {
    const place = `${path}:${node.loc?.start.line}`;
    if (node.type === "RegExpLiteral")
      found.literals.push({ place, source: String(node.pattern), flags: String(node.flags) });
    if (node.type === "NewExpression" || node.type === "CallExpression") {
      if ((node.callee as { name?: unknown }).name === "RegExp") found.constructors.push(place);
    }
  });
}

function visit(value: unknown, each: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, each);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const node = value as Node;
  if (typeof node.type === "string") each(node);
  for (const [key, child] of Object.entries(node)) if (key !== "loc") visit(child, each);
}
