import { setTimeout as sleep } from "node:timers/promises";
import type { LoadFigures } from "../closed-loop.ts";
import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import type { Figures, Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const COUNTS = [1, 50, 200, 500];
const SHORT_COUNTS = [1, 20];
const IDLE_MS = 10_000;
const RECIPIENTS = 20;
/** On one of the sessions. */
const CONNECTIONS = 10;

/** What connected sessions hold at idle, and what one of them still sends. */
export const sessions: Scenario = {
  title: "Connected sessions",
  plot: { figure: "idle_gateway_mb" },
  async open({ adapter, isShort, seconds, warmUpSeconds }) {
    const stage = await startMeasuredStage(adapter);
    const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
    const [first] = await stage.connect(1);
    if (!first) throw new Error("The scenario needs a session.");
    const load = (time: number) =>
      toLoad(stage, [first], numbers, { connections: CONNECTIONS, seconds: time });
    await stage.load.ask("greet", load(0));
    const points = (isShort ? SHORT_COUNTS : COUNTS).map((count) => ({
      label: `${count} ${count === 1 ? "session" : "sessions"}`,
      measure: () =>
        measure(stage, count, async (time) => stage.load.ask("send", load(time)), { seconds, warmUpSeconds }),
    }));
    return { points, close: () => stage.stop() };
  },
};

async function measure(
  stage: MeasuredStage,
  count: number,
  send: (seconds: number) => Promise<LoadFigures>,
  { seconds, warmUpSeconds }: { seconds: number; warmUpSeconds: number },
): Promise<Figures> {
  await stage.connect(count);
  const { use: idle } = await stage.meter(() => sleep(IDLE_MS));
  await send(warmUpSeconds);
  const { result, use } = await stage.meter(() => send(seconds));
  return {
    idle_gateway_mb: idle.gateway.proportionalMb,
    idle_database_mb: idle.database.proportionalMb,
    idle_gateway_cpu_percent: (idle.gateway.cpuMs / IDLE_MS) * 100,
    ...toSendFigures(result),
    ...costOf(use, result.count - result.failed),
  };
}
