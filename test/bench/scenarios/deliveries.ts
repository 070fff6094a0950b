import {
  allDelivered,
  type DeliveryStage,
  deliveryCost,
  RECEIVERS,
  startDeliveryStage,
} from "../delivery-stage.ts";
import type { BareParts } from "../processes/bare-parts.ts";
import { spawnBenchProcess } from "../processes/bench-process.ts";
import type { DeliveredFigures } from "../processes/delivery-receivers.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";

interface DeliveryPoint {
  perSecond: number;
  hanging: number;
}

const POINTS: DeliveryPoint[] = [
  { perSecond: 400, hanging: 0 },
  { perSecond: 400, hanging: 1 },
  { perSecond: 1000, hanging: 1 },
  { perSecond: 1500, hanging: 0 },
  { perSecond: 2500, hanging: 0 },
];
const SHORT_POINTS: DeliveryPoint[] = [
  { perSecond: 200, hanging: 0 },
  { perSecond: 200, hanging: 1 },
];
/** Of an event. */
const BYTES = 900;

/** Events recorded at an even pace, each delivered to one of the receivers with a durable row for its attempt. */
export const deliveries: Scenario = {
  title: `Deliveries to ${RECEIVERS} receivers`,
  plot: { figure: "p99_ms" },
  presentOnly: "Its events are recorded by the present build.",
  async open(options) {
    const calm = new Map<number, number>();
    const points = (options.isShort ? SHORT_POINTS : POINTS).map((point) => ({
      label: `${point.perSecond}/s${point.hanging > 0 ? ", and a receiver that hangs" : ""}`,
      async measure() {
        const figures = await measure(options, point);
        const { p99_ms = 0 } = figures;
        const alone = calm.get(point.perSecond);
        if (point.hanging === 0) calm.set(point.perSecond, p99_ms);
        else if (alone !== undefined) figures.rise_of_p99 = p99_ms / alone - 1;
        return figures;
      },
    }));
    return { points, close: async () => {} };
  },
};

/** Each run has a new gateway: what waits for a receiver that hangs is not part of the next run. */
async function measure(options: BenchOptions, { perSecond, hanging }: DeliveryPoint): Promise<Figures> {
  const { seconds, warmUpSeconds } = options;
  const stage = await startDeliveryStage(options, { hanging });
  try {
    const undiciPerSecond = await measureUndici(stage.healthyUrls, options);
    await deliver(stage, { perSecond, seconds: warmUpSeconds });
    const metered = await stage.meter(() => deliver(stage, { perSecond, seconds }));
    const { expected, arrived } = metered.result;
    const rate = (arrived.count / arrived.lastMs) * 1000;
    return {
      per_second: rate,
      p50_ms: arrived.p50,
      p99_ms: arrived.p99,
      max_ms: arrived.max,
      lost: expected - arrived.count,
      ...deliveryCost(metered, arrived.count),
      undici_per_second: undiciPerSecond,
      ratio_to_undici: rate / undiciPerSecond,
    };
  } finally {
    await stage.stop();
  }
}

async function deliver(
  { receivers, recorder, instances, healthyUrls }: DeliveryStage,
  pace: { perSecond: number; seconds: number },
): Promise<{ expected: number; arrived: DeliveredFigures }> {
  await receivers.ask("reset", null);
  const offered = await recorder.ask("record", { instances, pace });
  const rounds = Math.floor(offered / instances.length);
  const rest = Math.min(healthyUrls.length, offered % instances.length);
  const expected = rounds * healthyUrls.length + rest;
  return { expected, arrived: await allDelivered(receivers, expected) };
}

/** Requests of the same size to the same receivers, one at each at a time, and nothing else. */
async function measureUndici(origins: string[], { seconds, warmUpSeconds }: BenchOptions): Promise<number> {
  const client = spawnBenchProcess<BareParts>("bare-parts");
  const post = (time: number) =>
    client.ask("post", { origins, bytes: BYTES, connections: origins.length, seconds: time });
  await post(warmUpSeconds);
  const { perSecond } = await post(seconds);
  client.stop();
  return perSecond;
}
