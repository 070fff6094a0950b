import { cpuMs } from "../../process-figures.ts";
import { startBenchDatabase } from "../bench-database.ts";
import type { LoadFigures } from "../closed-loop.ts";
import type { BareParts } from "../processes/bare-parts.ts";
import { type BenchProcess, spawnBenchProcess } from "../processes/bench-process.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";

/** Of a text with its JSON, and of an event. */
const BYTES = { request: 80, event: 900 };
const CONNECTIONS = [1, 10];

type Client = BenchProcess<BareParts>;

/** What the parts of a gateway can do alone: an HTTP route, an HTTP request, an insert with its commit. */
export const limits: Scenario = {
  title: "Limits of this machine",
  plot: { figure: "per_second" },
  presentOnly: "It measures no gateway.",
  async open(options) {
    const database = await startBenchDatabase();
    const client = spawnBenchProcess<BareParts>("bare-parts");
    const server = spawnBenchProcess<BareParts>("bare-parts");
    const origin = await server.ask("serve", null);
    const points = CONNECTIONS.flatMap((connections): MeasuredPoint[] => {
      const post = (bytes: number) => (seconds: number) =>
        client.ask("post", { origins: [origin], bytes, connections, seconds });
      const insert = (seconds: number) =>
        client.ask("insert", { databaseUrl: database.gatewayUrl, connections, seconds });
      const at = `${connections} at once`;
      return [
        { label: `Fastify route, ${at}`, measure: () => measure(server, post(BYTES.request), options) },
        { label: `undici request, ${at}`, measure: () => measure(client, post(BYTES.event), options) },
        { label: `insert and commit, ${at}`, measure: () => measure(client, insert, options) },
      ];
    });
    return {
      points,
      async close() {
        for (const one of [client, server]) one.stop();
        await database.stop();
      },
    };
  },
};

/** `cpu_ms`: of the process in question for each act. */
async function measure(
  { pid }: Client,
  run: (seconds: number) => Promise<LoadFigures>,
  { warmUpSeconds, seconds }: BenchOptions,
): Promise<Figures> {
  await run(warmUpSeconds);
  const before = await cpuMs(pid);
  const { count, perSecond, p50, p99 } = await run(seconds);
  const cpu_ms = ((await cpuMs(pid)) - before) / count;
  return { per_second: perSecond, p50_ms: p50, p99_ms: p99, cpu_ms };
}
