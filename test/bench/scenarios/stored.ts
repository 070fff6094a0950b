import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";
import { receive } from "./receive.ts";
import { costOf, toLoad, toSendFigures } from "./send-figures.ts";

const COUNTS = [0, 100_000, 1_000_000];
const SHORT_COUNTS = [0, 5_000];
const CONNECTIONS = 10;
const RECIPIENTS = 20;
/** People who write to the session. */
const PEOPLE = 25;
const BURST = 2_000;
const SHORT_BURST = 200;

/** Sync texts and a burst of inbound ones, on a session that has many messages already. */
export const stored: Scenario = {
  title: "Stored messages",
  plot: { figure: "per_second" },
  async open(options) {
    const stages: MeasuredStage[] = [];
    const empty: Figures[] = [];
    const points = (options.isShort ? SHORT_COUNTS : COUNTS).map((count): MeasuredPoint => {
      let run: (() => Promise<Figures>) | undefined;
      return {
        label: `${count} messages`,
        async measure() {
          run ??= await prepare(options, count, stages);
          const figures = await run();
          if (count === 0) empty.push(figures);
          return { ...figures, ...compare(figures, empty.at(-1)) };
        },
      };
    });
    const close = async () => {
      for (const stage of stages) await stage.stop();
    };
    return { points, close };
  },
};

/** A gateway for each count: the idle ones cost next to nothing. */
async function prepare(
  options: BenchOptions,
  count: number,
  stages: MeasuredStage[],
): Promise<() => Promise<Figures>> {
  const stage = await startMeasuredStage(options);
  stages.push(stage);
  const { storeMessages } = stage.gateway;
  if (!storeMessages) throw new Error(`The adapter ${stage.adapter} cannot store messages.`);
  const [session] = await stage.connect(1);
  if (!session) throw new Error("The scenario needs a session.");
  await stage.gateway.setWebhook(session, stage.webhookUrl);
  if (count > 0) await storeMessages(session, count);
  const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
  const people = await stage.addPeople(PEOPLE);
  const send = (seconds: number) =>
    stage.load.ask("send", toLoad(stage, [session], numbers, { connections: CONNECTIONS, seconds }));
  const burst = (texts: number) =>
    receive(stage, stage.receiver, {
      controlUrl: stage.network.controlUrl,
      people,
      phones: [session.phone],
      pace: { burst: texts },
    });
  await stage.load.ask("greet", toLoad(stage, [session], numbers, { connections: CONNECTIONS, seconds: 0 }));
  await burst(people.length);
  return async () => {
    await send(options.warmUpSeconds);
    const sent = await stage.meter(() => send(options.seconds));
    const received = await burst(options.isShort ? SHORT_BURST : BURST);
    return {
      ...toSendFigures(sent.result),
      ...costOf(sent.use, sent.result.count - sent.result.failed),
      burst_seconds: received.tookMs / 1000,
      burst_lost: received.offered - received.count,
    };
  };
}

/** With the same loads on a session without messages; below 1 is slower. */
function compare(figures: Figures, empty: Figures | undefined): Figures {
  if (!empty || empty === figures) return {};
  const { per_second = 0, burst_seconds = 0 } = figures;
  return {
    ratio_to_empty: per_second / (empty.per_second ?? 0),
    burst_ratio_to_empty: (empty.burst_seconds ?? 0) / burst_seconds,
  };
}
