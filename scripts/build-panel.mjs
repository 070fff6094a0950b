// Builds the panel into a build (first argument: its folder, else dist), with compressed copies beside its files.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const dist = process.argv[2] ?? join(ROOT, "dist");
const target = join(dist, "panel");
const draft = join(dist, `.panel-${process.pid}`);
const old = join(dist, `.panel-old-${process.pid}`);

// biome-ignore lint/style/noProcessEnv: Vite reads it, and would bundle React's build for developers
process.env.NODE_ENV = "production";
mkdirSync(dist, { recursive: true });
try {
  await build({ root: join(ROOT, "panel"), logLevel: "warn", build: { outDir: draft } });
  execFileSync(process.execPath, [join(ROOT, "scripts/compress-panel.mjs"), draft], {
    stdio: ["ignore", 2, 2],
  });
  // A gateway that runs from this build never sees half a panel.
  if (existsSync(target)) renameSync(target, old);
  renameSync(draft, target);
} finally {
  for (const folder of [draft, old]) rmSync(folder, { recursive: true, force: true });
}
