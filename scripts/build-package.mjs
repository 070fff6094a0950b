// Builds the package of packages/ in the current folder, before npm packs it: its sources, and the licence. With the name
// of a program of this folder, such as build-client, also what that program writes from the contract.
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compile, ROOT, runScript } from "./run-script.mjs";

const [program] = process.argv.slice(2);

for (const name of ["LICENSE", "NOTICE"]) copyFileSync(join(ROOT, name), name);
rmSync("dist", { recursive: true, force: true });
compile("-p", ".");
if (program !== undefined) runScript(program, "dist");
