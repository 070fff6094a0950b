import { setTimeout as sleep } from "node:timers/promises";
import { findProcessTree, readUse } from "../../run/process-figures.ts";
import { type BenchGateway, makeDataDir, removeDataDir, startBenchGateway } from "../bench-gateway.ts";
import type { Figures, Scenario } from "../scenario.ts";

const IDLE_MS = 5000;

/** From the start of the program to its first 200 on /health, and what it holds then. */
export const starts: Scenario = {
  title: "Starts, and memory at idle",
  async open() {
    const dataDir = await makeDataDir();
    const warm = () => startBenchGateway(dataDir);
    await (await warm()).stop();
    return {
      points: [
        { label: "cold: creates its database", measure: () => startCold() },
        { label: "warm", measure: async () => measure(await warm(), dataDir) },
      ],
      close: () => removeDataDir(dataDir),
    };
  },
};

async function startCold(): Promise<Figures> {
  const dataDir = await makeDataDir();
  const figures = await measure(await startBenchGateway(dataDir), dataDir);
  await removeDataDir(dataDir);
  return figures;
}

async function measure(gateway: BenchGateway, dataDir: string): Promise<Figures> {
  await sleep(IDLE_MS);
  const node = await readUse([gateway.pid]);
  const isPostgres = (command: string) => command.includes("postgres") && command.includes(dataDir);
  const database = await readUse(await findProcessTree(isPostgres));
  await gateway.stop();
  return {
    start_ms: gateway.startMs,
    gateway_mb: node.proportionalMb,
    database_mb: database.proportionalMb,
    stack_mb: node.proportionalMb + database.proportionalMb,
  };
}
