import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import type { BenchProcess } from "../processes/bench-process.ts";
import type { InboundLoad } from "../processes/load-generator.ts";
import type { ReceivedFigures } from "../processes/webhook-receiver.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";
import { costOf, toLoad } from "./sends.ts";

export interface Received extends ReceivedFigures {
  offered: number;
  lagMs: number;
}

/** Timeout for the last text. */
const PATIENCE_MS = 60_000;

/** Sends the load and waits for as many texts. */
export async function receive(
  { load }: MeasuredStage,
  // biome-ignore lint/suspicious/noExplicitAny: the receiver of webhooks, or the library
  receiver: Pick<BenchProcess<any>, "ask">,
  texts: InboundLoad,
): Promise<Received> {
  await receiver.ask("reset", null);
  const { count, driverLagMs } = await load.ask("receive", texts);
  const giveUpAt = performance.now() + PATIENCE_MS;
  let read: ReceivedFigures = await receiver.ask("read", null);
  while (read.count < count && performance.now() < giveUpAt) {
    await sleep(50);
    read = await receiver.ask("read", null);
  }
  return { ...read, offered: count, lagMs: driverLagMs };
}

/** Texts a second, or a burst as fast as the network can. */
type InboundPace = { perSecond: number } | { burst: number };

interface InboundPoint {
  sessions: number;
  pace: InboundPace;
}

const PACES: InboundPace[] = [
  { perSecond: 10 },
  { perSecond: 100 },
  { perSecond: 300 },
  { perSecond: 500 },
  { burst: 2000 },
];
const POINTS: InboundPoint[] = [
  ...PACES.map((pace) => ({ sessions: 1, pace })),
  ...[...PACES, { perSecond: 700 }].map((pace) => ({ sessions: 20, pace })),
];
const SHORT_POINTS: InboundPoint[] = [{ perSecond: 10 }, { perSecond: 100 }, { burst: 500 }].map((pace) => ({
  sessions: 1,
  pace,
}));
/** Senders for each session. */
const PEOPLE = 25;

/** Latency from a text on the network to its webhook, compared with plain Baileys. */
export const inbound: Scenario = {
  title: "Inbound texts to a webhook",
  async open(options) {
    const stage = await startMeasuredStage();
    const people = await stage.addPeople(PEOPLE);
    const points = options.isShort ? SHORT_POINTS : POINTS;
    return {
      points: points.map((point) => toPoint(stage, people, point, options)),
      close: () => stage.stop(),
    };
  },
};

function toPoint(
  stage: MeasuredStage,
  people: string[],
  { sessions, pace }: InboundPoint,
  { seconds, warmUpSeconds }: BenchOptions,
): MeasuredPoint {
  const { controlUrl } = stage.network;
  const load = (phones: string[], time: number): InboundLoad => ({
    controlUrl,
    people,
    phones,
    pace: "burst" in pace ? pace : { ...pace, seconds: time },
  });
  let isReady = false;
  return {
    label: `${sessions} ${sessions === 1 ? "session" : "sessions"}, ${"burst" in pace ? `${pace.burst} at once` : `${pace.perSecond}/s`}`,
    async measure() {
      const paired = await stage.connect(sessions);
      const phones = paired.map(({ phone }) => phone);
      const library = stage.library(sessions);
      const bare = await library.ask("pair", { network: stage.network, controlUrl, sessions });
      if (!isReady) {
        for (const session of paired) await stage.gateway.setWebhook(session, stage.webhookUrl);
        const greeting = { controlUrl, people, pace: { burst: people.length * sessions } };
        await receive(stage, library, { ...greeting, phones: bare });
        await receive(stage, stage.receiver, { ...greeting, phones });
        isReady = true;
      }
      const libraryRun = await receive(stage, library, load(bare, seconds));
      if (!("burst" in pace)) await receive(stage, stage.receiver, load(phones, warmUpSeconds));
      const { result, use } = await stage.meter(() => receive(stage, stage.receiver, load(phones, seconds)));
      return { ...toFigures(result, libraryRun), ...costOf(use, result.count) };
    },
  };
}

function toFigures(gateway: Received, library: Received): Figures {
  const rateOf = ({ count, tookMs }: Received) => (count / tookMs) * 1000;
  return {
    per_second: rateOf(gateway),
    p50_ms: gateway.p50,
    p99_ms: gateway.p99,
    max_ms: gateway.max,
    took_seconds: gateway.tookMs / 1000,
    lost: gateway.offered - gateway.count,
    repeated: gateway.repeated,
    load_lag_ms: gateway.lagMs,
    library_per_second: rateOf(library),
    library_p99_ms: library.p99,
    ratio_to_library: rateOf(gateway) / rateOf(library),
  };
}

/** In each direction. */
const PER_SECOND = 10;
const SESSIONS = 100;
const SHORT_SESSIONS = 10;

/** A few messages each way over many sessions: the cost of a message that shares no batch. */
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
    return { points: [{ label, measure: () => measure(stage, run, options) }], close: () => stage.stop() };
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
