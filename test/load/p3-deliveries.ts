import { percentile, residentMb } from "../run/process-figures.ts";
import { costOfEach, readMeter } from "./cost.ts";
import { startEventSource } from "./event-source.ts";
import type { LoadTestOptions } from "./load-options.ts";
import { allHaveCome, pairEach, startLoadStage } from "./load-stage.ts";
import { atOrAbove, type LoadVerdict } from "./load-verdict.ts";
import { spread } from "./open-loop.ts";
import { startReceivers } from "./receivers.ts";

const RECEIVERS = 20;
const P99_MS = 2_000;

/** P3: deliveries of 1 kB to twenty healthy receivers, with a durable row per try; then each id is looked for. */
export async function runDeliveries({ seconds = 600, rate = 1_000 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const receivers = await startReceivers(RECEIVERS);
  const instances = await pairEach(stage, receivers, "P3");
  const source = await startEventSource(stage.database);
  const before = await readMeter(stage);
  const began = performance.now();
  const recorded = await source.record(instances, { perSecond: rate, seconds });
  const drained = await allHaveCome(() => receivers.count, recorded);
  const perSecond = (receivers.count * 1000) / (performance.now() - began);
  const memory = await residentMb(stage.gateway.pid);
  const cost = costOfEach(before, await readMeter(stage), recorded);
  await source.stop();
  await stage.stopGateway();
  const found = await receivers.check(stage.database);
  console.log(
    `P3: ${rate} events/s for ${seconds} s to ${RECEIVERS} receivers: ${perSecond.toFixed(0)}/s until drained, from record to arrival ${spread(receivers.lags)} (goal: p99 below ${P99_MS})`,
  );
  console.log(`P3: node ${memory.toFixed(0)} MB; recorded ${recorded}; ${cost}; ${JSON.stringify(found)}`);
  receivers.close();
  await stage.close();
  const { events, ...differences } = found;
  return {
    ledgers: { ...differences, missing: recorded - events, undelivered: drained ? 0 : 1 },
    missed: atOrAbove(P99_MS, "p99 in ms", percentile(receivers.lags, 0.99)),
  };
}
