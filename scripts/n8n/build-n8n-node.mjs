// Builds packages/n8n-nodes-waygate before npm packs it, without the tools of n8n: their types alone are 600 packages.
// test/integrations checks the types and the rules of n8n.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compile, ROOT, runScript } from "../run-script.mjs";

const PACKAGE = join(ROOT, "packages/n8n-nodes-waygate");
const DIST = join(PACKAGE, "dist");

rmSync(DIST, { recursive: true, force: true });
runScript("n8n/write-n8n-node", PACKAGE);
// The tools of n8n have an older compiler, which knows only an older way to resolve modules.
compile("-p", PACKAGE, "--noCheck", "--moduleResolution", "bundler");
for (const folder of ["credentials", "nodes"]) {
  for (const name of readdirSync(join(PACKAGE, folder), { recursive: true, encoding: "utf8" })) {
    const to = join(DIST, folder, name);
    if (!/\.(svg|node\.json)$/.test(name)) continue;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(PACKAGE, folder, name), to);
  }
}
// n8n loads CommonJS; the sources are modules.
writeFileSync(join(DIST, "package.json"), '{ "type": "commonjs" }\n');
