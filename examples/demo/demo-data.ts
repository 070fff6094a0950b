import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { findPostgresHome } from "../../src/platform/embedded-postgres/postgres-home.ts";
import { createLog } from "../../src/platform/log/log.ts";

/** Scratch data, deleted without a trace afterwards. */
export interface DemoData {
  dir: string;
  /** Also stops the database if a killed gateway has left it running. */
  remove(options: { isDatabaseRunning: boolean }): Promise<void>;
}

export async function createDemoData(binDir: string | undefined): Promise<DemoData> {
  const dir = await mkdtemp(join(await realpath(tmpdir()), "waygate-demo-"));
  return {
    dir,
    async remove({ isDatabaseRunning }) {
      if (isDatabaseRunning) await stopDatabase(dir, binDir).catch(() => {});
      const home = await findPostgresHome(dir).catch(() => undefined);
      for (const path of [home?.path, dir])
        if (path) await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function stopDatabase(dataDir: string, binDir: string | undefined): Promise<void> {
  const database = await startEmbeddedPostgres({ dataDir, binDir, log: createLog("silent") });
  await database.stop();
}
