import type { Profiler } from "node:inspector";
import type { BenchGateway } from "../bench-gateway.ts";
import { type DatabaseProfile, type ProfiledDatabase, recordDatabase } from "./database-recorder.ts";

/** Where the time of a load went, in the gateway and in its PostgreSQL. */
export interface GatewayProfile {
  /** Of each node. */
  cpu: Profiler.Profile[];
  database: DatabaseProfile;
}

/** Begins to record nodes that were started with a recorder; the returned function ends that. */
export async function recordGateway(
  nodes: readonly BenchGateway[],
  database: ProfiledDatabase,
): Promise<() => Promise<GatewayProfile>> {
  const recorders = nodes.flatMap(({ cpuRecorder }) => cpuRecorder ?? []);
  const stopDatabase = await recordDatabase(database);
  for (const recorder of recorders) await recorder.start();
  return async () => {
    const cpu: Profiler.Profile[] = [];
    for (const recorder of recorders) cpu.push(await recorder.stop());
    return { cpu, database: await stopDatabase() };
  };
}
