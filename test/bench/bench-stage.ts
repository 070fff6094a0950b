import { openDataDir } from "../../src/platform/config/data-dir.ts";
import { type Database, openDatabase } from "../../src/platform/db/database.ts";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { type BenchGateway, makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

/** The built gateway in a process of its own, on a database that the bench can look into. */
export interface BenchStage {
  gateway: BenchGateway;
  database: Database;
  databaseUrl: string;
}

/** All of it ends with the work, however that ends. */
export async function withBenchStage<Result>(work: (stage: BenchStage) => Promise<Result>): Promise<Result> {
  const [dataDir, storeDir] = [await makeDataDir(), await makeDataDir()];
  const held = await openDataDir(storeDir);
  // The same database that the gateway would start itself; started here, so that there is a way into it beside it.
  const postgres = await startEmbeddedPostgres({ dataDir: held.path, log: createLog("silent") });
  const gateway = await startBenchGateway(dataDir, postgres.socketUrl ?? postgres.url);
  const database = openDatabase(postgres.url, { max: 2, application_name: "bench" });
  try {
    return await work({ gateway, database, databaseUrl: postgres.url });
  } finally {
    await database.close();
    await gateway.stop();
    await postgres.stop();
    await held.release();
    await Promise.all([dataDir, storeDir].map(removeDataDir));
  }
}
