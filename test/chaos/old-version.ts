import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/platform/config/package-version.ts";
import type { Round } from "./chaos-row.ts";

/** The version before the newest migration, built from the history of this repository. */
export interface OldVersion {
  commit: string;
  program: string;
}

const FARTHEST_BACK = 128;

/** Undefined where there is no history to build it from. */
export function buildOldVersion(round: Round): OldVersion | undefined {
  const root = packageRoot();
  const place = mkdtempSync(join(tmpdir(), "waygate-old-"));
  round.afterwards(() => rmSync(place, { recursive: true, force: true }));
  // A commit in the middle of a change may not run.
  for (const commit of listOldCommits(root)) {
    const program = build(root, commit, join(place, commit));
    if (program !== undefined) return { commit, program };
  }
  return undefined;
}

/** From the newest that does not have all migrations of this version, in steps that double. */
function listOldCommits(root: string): string[] {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", ["--no-optional-locks", ...args], { cwd: root, encoding: "utf8" }).trim();
    const isCommitted = git("status", "--porcelain", "migrations") === "";
    const from = isCommitted ? `${git("log", "-1", "--format=%H", "--", "migrations")}^` : "HEAD";
    const commits = git("log", `-${FARTHEST_BACK}`, "--format=%H", from).split("\n");
    return commits.filter((_, n) => n === 0 || Number.isInteger(Math.log2(n)));
  } catch {
    return [];
  }
}

/** With the packages of this version; undefined when it does not load. */
function build(root: string, commit: string, place: string): string | undefined {
  mkdirSync(place);
  const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", place], { input: archive });
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: place, stdio: "pipe" });
  try {
    node(compiler, "-p", "tsconfig.build.json", "--noCheck", "--declaration", "false");
    for (const part of ["gateway", "start-serving"].map((name) => `dist/src/processes/${name}.js`)) {
      if (!existsSync(join(place, part))) continue;
      node("--input-type=module", "--eval", `await import('./${part}'); process.exit(0)`);
    }
    return join(place, "dist/src/main.js");
  } catch {
    return undefined;
  }
}
