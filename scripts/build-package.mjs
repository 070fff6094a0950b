// Builds the package of packages/ in the current folder, before npm packs it: its sources, and the licence. With the name
// of a program of this folder, such as build-client, also what that program writes from the contract.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const [program] = process.argv.slice(2);

const compile = (...options) =>
  execFileSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options], {
    stdio: ["ignore", 2, 2],
  });

for (const name of ["LICENSE", "NOTICE"]) copyFileSync(join(ROOT, name), name);
rmSync("dist", { recursive: true, force: true });
compile("-p", ".");

if (program !== undefined) {
  // Beside the sources, so that it finds their dependencies.
  const build = mkdtempSync(join(ROOT, "packages", ".build-"));
  try {
    compile(
      "-p",
      join(ROOT, "tsconfig.build.json"),
      "--outDir",
      build,
      "--noCheck",
      "--declaration",
      "false",
      "--sourceMap",
      "false",
    );
    execFileSync(process.execPath, [join(build, "scripts", `${program}.js`), "dist"], {
      stdio: ["ignore", 2, 2],
    });
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}
