import { setTimeout as sleep } from "node:timers/promises";
import { startMeasuredStage } from "../measured-stage.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const COUNTS = [1, 50, 200, 500];
const SHORT_COUNTS = [1, 20];
/** After the pairings, so that what they needed is given back. */
const SETTLE_MS = 10_000;
const IDLE_MS = 10_000;
const RECIPIENTS = 20;
/** On one of the sessions. */
const CONNECTIONS = 10;

/** What connected sessions hold at idle, and what one of them still sends; each run has a new gateway. */
export const sessions: Scenario = {
  title: "Connected sessions",
  plot: { figure: "idle_gateway_mb" },
  mostRepetitions: 2,
  async open(options) {
    let first: Figures | undefined;
    const points = (options.isShort ? SHORT_COUNTS : COUNTS).map((count) => ({
      label: `${count} ${count === 1 ? "session" : "sessions"}`,
      async measure() {
        const figures = await measure(options, count);
        if (count === 1) first = figures;
        return count === 1 || !first ? figures : { ...figures, ...compare(figures, first, count) };
      },
    }));
    return { points, close: async () => {} };
  },
};

async function measure(options: BenchOptions, count: number): Promise<Figures> {
  const { seconds, warmUpSeconds } = options;
  const stage = await startMeasuredStage(options);
  try {
    const [first] = await stage.connect(count);
    if (!first) throw new Error("The scenario needs a session.");
    const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
    await sleep(SETTLE_MS);
    const { use: idle } = await stage.meter(() => sleep(IDLE_MS));
    const send = (time: number) =>
      stage.load.ask("send", toLoad(stage, [first], numbers, { connections: CONNECTIONS, seconds: time }));
    await stage.load.ask("greet", toLoad(stage, [first], numbers, { connections: CONNECTIONS, seconds: 0 }));
    await send(warmUpSeconds);
    const { result, use } = await stage.meter(() => send(seconds));
    return {
      idle_gateway_mb: idle.gateway.proportionalMb,
      idle_database_mb: idle.database.proportionalMb,
      idle_stack_mb: idle.gateway.proportionalMb + idle.database.proportionalMb,
      idle_gateway_cpu_percent: (idle.gateway.cpuMs / IDLE_MS) * 100,
      ...toSendFigures(result),
      ...costOf(use, result.count - result.failed),
    };
  } finally {
    await stage.stop();
  }
}

/** With a gateway of one session. */
function compare(many: Figures, one: Figures, count: number): Figures {
  const more = (many.idle_gateway_mb ?? 0) - (one.idle_gateway_mb ?? 0);
  return {
    idle_mb_each: more / (count - 1),
    ratio_to_one_session: (many.per_second ?? 0) / (one.per_second ?? 0),
  };
}
