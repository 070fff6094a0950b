import { openDataDir } from "../../src/platform/config/data-dir.ts";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { makeDataDir, removeDataDir } from "./bench-gateway.ts";

/** The database that a gateway would start itself; started by the bench, so that there is a way into it. */
export interface BenchDatabase {
  /** Over TCP. */
  url: string;
  /** Over its Unix socket where there is one, as a gateway reaches a database of its own. */
  gatewayUrl: string;
  dataDir: string;
  stop(): Promise<void>;
}

export async function startBenchDatabase(settings: Record<string, string> = {}): Promise<BenchDatabase> {
  const dataDir = await makeDataDir();
  const held = await openDataDir(dataDir);
  const postgres = await startEmbeddedPostgres({ dataDir: held.path, log: createLog("silent"), settings });
  return {
    url: postgres.url,
    gatewayUrl: postgres.socketUrl ?? postgres.url,
    dataDir,
    async stop() {
      await postgres.stop();
      await held.release();
      await removeDataDir(dataDir);
    },
  };
}
