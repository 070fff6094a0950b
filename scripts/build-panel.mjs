// Builds the panel into a build (first argument: its folder, else dist), with compressed copies beside its files.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const outDir = join(process.argv[2] ?? join(ROOT, "dist"), "panel");

await build({ root: join(ROOT, "panel"), logLevel: "warn", build: { outDir } });
const compress = join(ROOT, "scripts/compress-panel.mjs");
if (existsSync(compress)) execFileSync(process.execPath, [compress, outDir], { stdio: ["ignore", 2, 2] });
