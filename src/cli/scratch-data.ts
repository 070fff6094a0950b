import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../platform/embedded-postgres/embedded-postgres.ts";
import { findPostgresHome, isPresent } from "../platform/embedded-postgres/postgres-home.ts";
import { createLog } from "../platform/log/log.ts";

/** An empty data directory for a gateway that is only tried. */
export async function createScratchData(prefix: string): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), prefix));
}

/** Deletes a data directory, and stops a database that a killed gateway has left running. */
export async function removeScratchData(dataDir: string, binDir: string | undefined): Promise<void> {
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
