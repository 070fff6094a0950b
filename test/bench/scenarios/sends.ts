import type { LoadFigures } from "../closed-loop.ts";
import { type MeasuredStage, type StageRole, startMeasuredStage } from "../measured-stage.ts";
import type { Metered } from "../meter.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

interface SendPoint {
  sessions: number;
  connections: number;
}

const POINTS: SendPoint[] = [
  { sessions: 1, connections: 1 },
  { sessions: 1, connections: 10 },
  { sessions: 20, connections: 40 },
  { sessions: 100, connections: 100 },
];
/** In short runs. */
const MOST_SESSIONS = 20;
/** Of each session. */
const RECIPIENTS = 20;

/** Texts through HTTP, each answered when the network has it, and Baileys alone with as many under way. */
export const sends: Scenario = {
  title: "Sync texts",
  async open(options) {
    const stage = await startMeasuredStage();
    const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
    const points = POINTS.filter(({ sessions }) => !options.isShort || sessions <= MOST_SESSIONS);
    return {
      points: points.map((point) => toPoint(stage, numbers, point, options)),
      close: () => stage.stop(),
    };
  },
};

function toPoint(
  stage: MeasuredStage,
  numbers: string[],
  { sessions, connections }: SendPoint,
  { seconds, warmUpSeconds }: BenchOptions,
): MeasuredPoint {
  let isReady = false;
  const prepare = async (): Promise<void> => {
    const paired = await stage.connect(sessions);
    await stage.load.ask("greet", toLoad(stage, paired, numbers, { connections, seconds: 0 }));
    const library = stage.library(sessions);
    await library.ask("pair", { network: stage.network, controlUrl: stage.network.controlUrl, sessions });
    await library.ask("greet", { sessions, numbers });
    isReady = true;
  };
  return {
    label: `${sessions} ${sessions === 1 ? "session" : "sessions"}, ${connections} at once`,
    async measure() {
      if (!isReady) await prepare();
      const paired = await stage.connect(sessions);
      const send = (time: number) =>
        stage.load.ask("send", toLoad(stage, paired, numbers, { connections, seconds: time }));
      const bare = (time: number) =>
        stage.library(sessions).ask("send", { sessions, connections, seconds: time, numbers });
      await bare(warmUpSeconds);
      const library = await stage.meter(() => bare(seconds));
      await send(warmUpSeconds);
      const gateway = await stage.meter(() => send(seconds));
      return compare(gateway, library);
    },
  };
}

function compare(
  gateway: Metered<LoadFigures, StageRole>,
  library: Metered<LoadFigures, StageRole>,
): Figures {
  const { result, use } = gateway;
  const sent = result.count - result.failed;
  const libraryCpuMs = library.use.library.cpuMs / library.result.count;
  return {
    ...toSendFigures(result),
    ...costOf(use, sent),
    library_per_second: library.result.perSecond,
    library_cpu_ms: libraryCpuMs,
    gateway_cpu_ms_beyond_library: use.gateway.cpuMs / sent - libraryCpuMs,
    ratio_to_library: result.perSecond / library.result.perSecond,
  };
}
