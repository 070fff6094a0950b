import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Runs the compiler of this repository. */
export function compile(...options) {
  execFileSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options], {
    stdio: ["ignore", 2, 2],
  });
}

/** Compiles the program and runs one of its scripts, for a package that may be packed before `dist` is built. */
export function runScript(name, ...args) {
  // Beside the sources, so that it finds their dependencies.
  const build = mkdtempSync(join(ROOT, "packages", ".build-"));
  try {
    const quick = ["--noCheck", "--declaration", "false", "--sourceMap", "false"];
    compile("-p", join(ROOT, "tsconfig.build.json"), "--outDir", build, ...quick);
    execFileSync(process.execPath, [join(build, "scripts", `${name}.js`), ...args], {
      stdio: ["ignore", 2, 2],
    });
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}
