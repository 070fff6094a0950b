import { startMeasuredStage } from "../measured-stage.ts";
import type { Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const NODES = 3;
const SESSIONS = 100;
const RATES = [100, 200, 400];
const SHORT_SESSIONS = 9;
const SHORT_RATES = [50];

/** Sync texts at a fixed rate over several nodes on one database; each request goes to the next node. */
export const nodes: Scenario = {
  title: `Sync texts over ${NODES} nodes`,
  plot: { figure: "p99_ms" },
  async open(options) {
    const { isShort, seconds, warmUpSeconds } = options;
    const stage = await startMeasuredStage(options, NODES);
    const count = isShort ? SHORT_SESSIONS : SESSIONS;
    const paired = await stage.connect(count);
    const numbers = await stage.addPeople(1, { opaque: true });
    await stage.load.ask("greet", toLoad(stage, paired, numbers, { perSecond: 1, seconds: 0 }));
    const send = (perSecond: number, time: number) =>
      stage.load.ask("send", toLoad(stage, paired, numbers, { perSecond, seconds: time }));
    const points = (isShort ? SHORT_RATES : RATES).map((perSecond) => ({
      label: `${perSecond}/s over ${count} sessions`,
      async measure() {
        await send(perSecond, warmUpSeconds);
        const { result, use } = await stage.meter(() => send(perSecond, seconds));
        return { ...toSendFigures(result), ...costOf(use, result.count - result.failed) };
      },
    }));
    return { points, close: () => stage.stop() };
  },
};
