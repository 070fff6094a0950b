import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";
import { receive } from "./receive.ts";
import { costOf, toLoad } from "./send-figures.ts";

/** Of each direction. */
const PER_SECOND = 10;
const SESSIONS = 100;
const SHORT_SESSIONS = 10;

/** Few messages each way over many sessions: what a message costs that shares its batch with nobody. */
export const trickle: Scenario = {
  title: "Few messages over many sessions",
  async open(options) {
    const stage = await startMeasuredStage();
    const count = options.isShort ? SHORT_SESSIONS : SESSIONS;
    const paired = await stage.connect(count);
    const people = await stage.addPeople(1);
    const numbers = await stage.addPeople(1, { opaque: true });
    const { controlUrl } = stage.network;
    const phones = paired.map(({ phone }) => phone);
    for (const session of paired) await stage.gateway.setWebhook(session, stage.webhookUrl);
    const texts = (seconds: number) => ({
      controlUrl,
      people,
      phones,
      pace: { perSecond: PER_SECOND, seconds },
    });
    const sendsOf = (seconds: number) => toLoad(stage, paired, numbers, { perSecond: PER_SECOND, seconds });
    await stage.load.ask("greet", sendsOf(0));
    await receive(stage, stage.receiver, { ...texts(0), pace: { burst: count } });
    const run = (seconds: number) => runBothWays(stage, sendsOf(seconds), texts(seconds));
    const label = `${PER_SECOND}/s each way over ${count} sessions`;
    return {
      points: [{ label, measure: () => measure(stage, run, options) }],
      close: () => stage.stop(),
    };
  },
};

type BothWays = Awaited<ReturnType<typeof runBothWays>>;

async function runBothWays(
  stage: MeasuredStage,
  sends: Parameters<typeof stage.load.ask<"send">>[1],
  texts: Parameters<typeof receive>[2],
) {
  const [sent, received] = await Promise.all([
    stage.load.ask("send", sends),
    receive(stage, stage.receiver, texts),
  ]);
  return { sent, received };
}

async function measure(
  stage: MeasuredStage,
  run: (seconds: number) => Promise<BothWays>,
  { warmUpSeconds, seconds }: BenchOptions,
): Promise<Figures> {
  await run(warmUpSeconds);
  const { result, use } = await stage.meter(() => run(seconds));
  const { sent, received } = result;
  return {
    send_p50_ms: sent.p50,
    send_p99_ms: sent.p99,
    send_max_ms: sent.max,
    send_failed: sent.failed,
    webhook_p50_ms: received.p50,
    webhook_p99_ms: received.p99,
    webhook_max_ms: received.max,
    webhook_lost: received.offered - received.count,
    ...costOf(use, sent.count - sent.failed + received.count),
  };
}
