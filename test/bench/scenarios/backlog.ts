import { allDelivered, deliveryCost, startDeliveryStage } from "../delivery-stage.ts";
import type { BenchOptions, Figures, Scenario } from "../scenario.ts";

const COUNTS = [100_000, 1_000_000];
const SHORT_COUNTS = [2_000];

/** Deliveries that wait when the gateway starts. */
export const backlog: Scenario = {
  title: "Pending deliveries",
  plot: { figure: "per_second" },
  mostRepetitions: 1,
  presentOnly: "Its events are recorded by the present build.",
  async open(options) {
    const points = (options.isShort ? SHORT_COUNTS : COUNTS).map((count) => ({
      label: `${count} pending`,
      measure: () => measure(options, count),
    }));
    return { points, close: async () => {} };
  },
};

async function measure(options: BenchOptions, count: number): Promise<Figures> {
  const stage = await startDeliveryStage(options, { hanging: 0 });
  const { receivers, recorder, instances } = stage;
  try {
    await stage.stopGateway();
    await recorder.ask("fill", { instances, count });
    await receivers.ask("reset", null);
    await stage.startGateway();
    const metered = await stage.meter(() => allDelivered(receivers, count));
    const { result: arrived } = metered;
    return {
      per_second: (arrived.count / (arrived.lastMs - arrived.firstMs)) * 1000,
      start_to_first_ms: arrived.firstMs,
      drained_seconds: arrived.lastMs / 1000,
      lost: count - arrived.count,
      ...deliveryCost(metered, arrived.count),
    };
  } finally {
    await stage.stop();
  }
}
