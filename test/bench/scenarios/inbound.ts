import { type MeasuredStage, startMeasuredStage } from "../measured-stage.ts";
import type { InboundLoad } from "../processes/load-generator.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";
import { type Received, receive } from "./receive.ts";
import { costOf } from "./send-figures.ts";

/** Texts a second; a number of texts as fast as the network can. */
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
/** People who write to each session. */
const PEOPLE = 25;

/** From a text at the network to its webhook, and the same texts to Baileys alone. */
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
