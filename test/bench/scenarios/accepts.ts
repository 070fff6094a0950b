import { startMeasuredStage } from "../measured-stage.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const CONNECTIONS = 50;
/** None of them has a behaviour of its own in the sandbox. */
const SANDBOX_NUMBERS = Array.from({ length: 5000 }, (_, n) => `55119${10_000_000 + n * 10 + 6}`);

/** Texts that are accepted while the session sends those before; each run has a gateway without a backlog. */
export const accepts: Scenario = {
  title: "Async texts accepted",
  plot: { figure: "per_second" },
  async open(options) {
    return {
      points: [{ label: `1 session, ${CONNECTIONS} at once`, measure: () => measure(options) }],
      close: async () => {},
    };
  },
};

async function measure({ adapter, seconds, warmUpSeconds }: BenchOptions): Promise<Figures> {
  const stage = await startMeasuredStage(adapter);
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
    return { ...toSendFigures(result), ...costOf(use, result.count - result.failed) };
  } finally {
    await stage.stop();
  }
}
