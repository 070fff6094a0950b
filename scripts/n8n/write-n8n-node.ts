// Writes what the n8n node knows of the contract into its package, before that is compiled. Its argument is the folder of
// the package.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { n8nNodeFiles } from "./n8n-node-files.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder of the package: write-n8n-node.js <folder>.");

for (const [path, text] of Object.entries(n8nNodeFiles())) writeFileSync(join(folder, path), text);
