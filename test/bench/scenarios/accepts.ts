import { startMeasuredStage } from "../measured-stage.ts";
import type { BareParts } from "../processes/bare-parts.ts";
import { spawnBenchProcess } from "../processes/bench-process.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const CONNECTIONS = 50;
/** Of a request with its JSON. */
const BYTES = 80;
/** None of them has a behaviour of its own in the sandbox. */
const SANDBOX_NUMBERS = Array.from({ length: 5000 }, (_, n) => `55119${10_000_000 + n * 10 + 6}`);

/** Texts that are accepted while the session sends those before; each run has a gateway without a backlog. */
export const accepts: Scenario = {
  title: "Async texts accepted",
  plot: { figure: "per_second", limit: "route_per_second" },
  async open(options) {
    return {
      points: [{ label: `1 session, ${CONNECTIONS} at once`, measure: () => measure(options) }],
      close: async () => {},
    };
  },
};

async function measure(options: BenchOptions): Promise<Figures> {
  const { seconds, warmUpSeconds } = options;
  const routePerSecond = await measureRoute(options);
  const stage = await startMeasuredStage(options);
  try {
    const sandbox = await stage.gateway.createSandboxSession?.();
    const sessions = sandbox ? [{ ...sandbox, phone: "" }] : await stage.connect(1);
    const numbers = sandbox ? SANDBOX_NUMBERS : await stage.addPeople(200, { opaque: true });
    const accept = (time: number) => {
      const load = toLoad(stage, sessions, numbers, { connections: CONNECTIONS, seconds: time });
      return stage.load.ask("send", { ...load, isAsync: true });
    };
    await accept(warmUpSeconds);
    const { result, use } = await stage.meter(() => accept(seconds));
    return {
      ...toSendFigures(result),
      ...costOf(use, result.count - result.failed),
      route_per_second: routePerSecond,
      ratio_to_route: result.perSecond / routePerSecond,
    };
  } finally {
    await stage.stop();
  }
}

/** A bare route of Fastify under as many connections. */
async function measureRoute({ seconds, warmUpSeconds }: BenchOptions): Promise<number> {
  const [client, server] = [
    spawnBenchProcess<BareParts>("bare-parts"),
    spawnBenchProcess<BareParts>("bare-parts"),
  ];
  const origins = [await server.ask("serve", null)];
  const post = (time: number) =>
    client.ask("post", { origins, bytes: BYTES, connections: CONNECTIONS, seconds: time });
  await post(warmUpSeconds);
  const { perSecond } = await post(seconds);
  for (const one of [client, server]) one.stop();
  return perSecond;
}
