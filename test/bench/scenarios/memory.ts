import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";
import { toLoad } from "./send-figures.ts";

const SENDS = 100_000;
const SHORT_SENDS = 1_000;
const SESSIONS = 20;
const CONNECTIONS = 40;
const RECIPIENTS = 20;
const IDLE_MS = 30_000;
const SHORT_IDLE_MS = 5_000;

/** What the gateway holds at idle before and after many sync texts; each run has a new gateway. */
export const memory: Scenario = {
  title: "Memory after many texts",
  plot: { figure: "gateway_mb_after", limit: "gateway_mb_before" },
  mostRepetitions: 2,
  async open(options) {
    const count = options.isShort ? SHORT_SENDS : SENDS;
    return {
      points: [{ label: `${count} texts on ${SESSIONS} sessions`, measure: () => measure(options, count) }],
      close: async () => {},
    };
  },
};

async function measure(options: BenchOptions, count: number): Promise<Figures> {
  const stage = await startMeasuredStage(options);
  try {
    const sessions = await stage.connect(SESSIONS);
    const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
    const load = toLoad(stage, sessions, numbers, { connections: CONNECTIONS, count });
    await stage.load.ask("greet", load);
    const idleMs = options.isShort ? SHORT_IDLE_MS : IDLE_MS;
    const before = await readIdleMemory(stage, idleMs);
    const { perSecond, failed } = await stage.load.ask("send", load);
    const after = await readIdleMemory(stage, idleMs);
    return {
      gateway_mb_before: before.gateway,
      gateway_mb_after: after.gateway,
      gateway_mb_more: after.gateway - before.gateway,
      database_mb_before: before.database,
      database_mb_after: after.database,
      per_second: perSecond,
      failed,
    };
  } finally {
    await stage.stop();
  }
}

async function readIdleMemory(
  stage: MeasuredStage,
  idleMs: number,
): Promise<{ gateway: number; database: number }> {
  const { use } = await stage.meter(() => sleep(idleMs));
  return { gateway: use.gateway.proportionalMb, database: use.database.proportionalMb };
}
