import { makeDataDir, removeDataDir } from "../bench-gateway.ts";
import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import { installNodeReleases, type NodeRelease } from "../node-releases.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const CONNECTIONS = 10;
const RECIPIENTS = 20;

/** Sync texts of a gateway on each supported line of Node; the bench itself runs on its own. */
export const releases: Scenario = {
  title: "Releases of Node",
  plot: { figure: "per_second" },
  async open(options) {
    const folder = await makeDataDir();
    const stages: MeasuredStage[] = [];
    const points = (await installNodeReleases(folder)).map((release): MeasuredPoint => {
      let run: (() => Promise<Figures>) | undefined;
      return {
        label: `Node ${release.version}`,
        async measure() {
          run ??= await prepare(options, release, stages);
          return run();
        },
      };
    });
    const close = async () => {
      for (const stage of stages) await stage.stop();
      await removeDataDir(folder);
    };
    return { points, close };
  },
};

async function prepare(
  options: BenchOptions,
  { program: node }: NodeRelease,
  stages: MeasuredStage[],
): Promise<() => Promise<Figures>> {
  const stage = await startMeasuredStage({ ...options, program: { ...options.program, node } });
  stages.push(stage);
  const sessions = await stage.connect(1);
  const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
  const send = (seconds: number) =>
    stage.load.ask("send", toLoad(stage, sessions, numbers, { connections: CONNECTIONS, seconds }));
  await stage.load.ask("greet", toLoad(stage, sessions, numbers, { connections: CONNECTIONS, seconds: 0 }));
  return async () => {
    await send(options.warmUpSeconds);
    const { result, use } = await stage.meter(() => send(options.seconds));
    return { ...toSendFigures(result), ...costOf(use, result.count - result.failed) };
  };
}
