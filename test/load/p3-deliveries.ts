import { residentMb } from "../bench/bench-gateway.ts";
import { costOfEach, readMeter, sizesOfEach } from "./cost.ts";
import { startEventSource } from "./event-source.ts";
import type { LoadOptions } from "./load.ts";
import { allHaveCome, startLoadStage } from "./load-stage.ts";
import { spread } from "./open-loop.ts";
import { startReceivers } from "./receivers.ts";

const RECEIVERS = 20;

/** P3: deliveries of 1 kB to twenty healthy receivers, with a durable row per try. */
export function runDeliveries({ seconds = 600, rate = 1_000 }: LoadOptions): Promise<boolean> {
  return deliver("P3", { seconds, rate });
}

/** P4: 1,000 events a second for five minutes, then each id is looked for. */
export function runEveryId({ seconds = 300, rate = 1_000 }: LoadOptions): Promise<boolean> {
  return deliver("P4", { seconds, rate });
}

async function deliver(name: string, { seconds, rate }: Required<Pick<LoadOptions, "seconds" | "rate">>) {
  const stage = await startLoadStage();
  const receivers = await startReceivers(RECEIVERS);
  const instances: number[] = [];
  for (const [n, url] of receivers.urls.entries()) {
    const { id, webhook_secret } = await stage.pair(`${name} ${n}`, url);
    receivers.trust(webhook_secret);
    instances.push(id);
  }
  const source = await startEventSource(stage.database);
  const before = await readMeter(stage);
  const began = performance.now();
  const recorded = await source.record(instances, { perSecond: rate, seconds });
  const drained = await allHaveCome(() => receivers.count, recorded);
  const perSecond = (receivers.count * 1000) / (performance.now() - began);
  const memory = await residentMb(stage.gateway.pid);
  const cost = costOfEach(before, await readMeter(stage), recorded);
  console.log(`${name}: bytes of disk for each: ${await sizesOfEach(stage.database, recorded)}`);
  await source.stop();
  await stage.stopGateway();
  const found = await receivers.check(stage.database);
  console.log(
    `${name}: ${rate} events/s for ${seconds} s to ${RECEIVERS} receivers: ${perSecond.toFixed(0)}/s until drained, from record to arrival ${spread(receivers.lags)} (goal: p99 below 2000)`,
  );
  console.log(
    `${name}: node ${memory.toFixed(0)} MB; recorded ${recorded}; ${cost}; ${JSON.stringify(found)}`,
  );
  receivers.close();
  await stage.close();
  return drained && found.events === recorded && found.lost + found.duplicates + found.unexpected === 0;
}
