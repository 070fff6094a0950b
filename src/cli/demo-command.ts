import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playDemo } from "../../examples/demo/play-demo.ts";
import type { Env } from "../platform/config/config.ts";
import { packageRoot } from "../platform/config/package-version.ts";
import { startEmbeddedPostgres } from "../platform/embedded-postgres/embedded-postgres.ts";
import { findPostgresHome, isPresent } from "../platform/embedded-postgres/postgres-home.ts";
import { createLog } from "../platform/log/log.ts";

/** Plays the demo of `examples/demo` on scratch data, and deletes the data. Throws if a promise is broken. */
export async function runDemoCommand(env: Env): Promise<void> {
  const dataDir = await mkdtemp(join(await realpath(tmpdir()), "waygate-demo-"));
  try {
    await playDemo({
      program: join(packageRoot(), "bin", "waygate.mjs"),
      dataDir,
      env,
      isBold: process.stdout.isTTY === true && !env.NO_COLOR,
    });
  } finally {
    await removeData(dataDir, env.PG_BIN_DIR);
  }
}

/** Also stops a database that a killed gateway has left running. */
async function removeData(dataDir: string, binDir: string | undefined): Promise<void> {
  const home = await findPostgresHome(dataDir).catch(() => undefined);
  // PostgreSQL deletes this file when it stops.
  if (home && (await isPresent(join(home.data, "postmaster.pid")))) {
    await stopDatabase(dataDir, binDir).catch(() => {});
  }
  for (const path of [home?.path, dataDir])
    if (path) await rm(path, { recursive: true, force: true, maxRetries: 5 });
}

async function stopDatabase(dataDir: string, binDir: string | undefined): Promise<void> {
  const database = await startEmbeddedPostgres({ dataDir, binDir, log: createLog("silent") });
  await database.stop();
}
