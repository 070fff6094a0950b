import { type Database, openDatabase } from "../../src/platform/db/database.ts";
import { startBenchDatabase } from "./bench-database.ts";
import { type BenchGateway, makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

/** The built gateway in a process of its own, on a database that the bench can look into. */
export interface BenchStage {
  gateway: BenchGateway;
  database: Database;
  databaseUrl: string;
}

/** All of it ends with the work, however that ends. */
export async function withBenchStage<Result>(work: (stage: BenchStage) => Promise<Result>): Promise<Result> {
  const dataDir = await makeDataDir();
  const { url, gatewayUrl, stop } = await startBenchDatabase();
  const gateway = await startBenchGateway(dataDir, { databaseUrl: gatewayUrl });
  const database = openDatabase(url, { max: 2, application_name: "bench" });
  try {
    return await work({ gateway, database, databaseUrl: url });
  } finally {
    await database.close();
    await gateway.stop();
    await stop();
    await removeDataDir(dataDir);
  }
}
