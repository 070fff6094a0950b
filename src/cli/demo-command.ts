import { join } from "node:path";
import { playDemo } from "../../examples/demo/play-demo.ts";
import type { Env } from "../platform/config/config.ts";
import { packageRoot } from "../platform/config/package-version.ts";
import { createScratchData, removeScratchData } from "./scratch-data.ts";

/** Plays the demo of `examples/demo` on scratch data, and deletes the data. Throws if a promise is broken. */
export async function runDemoCommand(env: Env): Promise<void> {
  const dataDir = await createScratchData("waygate-demo-");
  try {
    await playDemo({
      program: join(packageRoot(), "bin", "waygate.mjs"),
      dataDir,
      env,
      isBold: process.stdout.isTTY === true && !env.NO_COLOR,
    });
  } finally {
    await removeScratchData(dataDir, env.PG_BIN_DIR);
  }
}
