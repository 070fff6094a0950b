import { startEventSource } from "./event-source.ts";
import type { LoadOptions } from "./load.ts";
import { allHaveCome, slopeAnHour, startLoadStage, watchProcess } from "./load-stage.ts";
import { offer, spread } from "./open-loop.ts";
import { startReceivers } from "./receivers.ts";
import { checkSends, isDrained, openSendingClient } from "./send-ledger.ts";

const RECEIVERS = 20;
const SAMPLE_MS = 10_000;
/** Until caches are full and code is compiled, memory grows by itself. */
const WARM_PART = 0.4;

/** P8: half of P2 and P3 together for long: memory and open files must not grow. */
export async function runSoak({ seconds = 1_800, rate = 500 }: LoadOptions): Promise<boolean> {
  const stage = await startLoadStage();
  const receivers = await startReceivers(RECEIVERS);
  const instances: number[] = [];
  for (const [n, url] of receivers.urls.entries()) {
    const { id, webhook_secret } = await stage.pair(`P8 ${n}`, url);
    receivers.trust(webhook_secret);
    instances.push(id);
  }
  const sender = openSendingClient(stage.gateway.url, [await stage.pair("P8 sends")]);
  const source = await startEventSource(stage.database);
  const watched = watchProcess(() => stage.gateway.pid, SAMPLE_MS);
  const [offered, recorded] = await Promise.all([
    offer({ perSecond: rate, seconds }, sender.send),
    source.record(instances, { perSecond: rate, seconds }),
  ]);
  watched.stop();
  const isReceived = await allHaveCome(() => receivers.count, recorded);
  const isSent = await isDrained(stage.database);
  const sends = await checkSends(stage.database, sender.accepted);
  await sender.close();
  await source.stop();
  await stage.stopGateway();
  const deliveries = await receivers.check(stage.database);
  const steady = watched.samples.slice(Math.floor(watched.samples.length * WARM_PART));
  const files = steady.map((sample) => sample.files);
  console.log(
    `P8: ${rate} texts/s and ${rate} events/s for ${seconds} s: texts ${spread(offered.latencies)}, failed ${offered.failed}; deliveries ${spread(receivers.lags)}`,
  );
  console.log(
    `P8: after the first ${WARM_PART * 100} %: ${slopeAnHour(steady, ({ residentMb }) => residentMb).toFixed(1)} MB/h resident (goal: below 1), from ${steady[0]?.residentMb.toFixed(0)} to ${steady.at(-1)?.residentMb.toFixed(0)} MB; open files ${Math.min(...files)} to ${Math.max(...files)}`,
  );
  console.log(`P8: ${JSON.stringify({ sends, deliveries })}`);
  receivers.close();
  await stage.close();
  const isWhole = deliveries.lost + deliveries.duplicates + deliveries.unexpected === 0;
  return isReceived && isSent && isWhole && Object.values(sends).every((count) => count === 0);
}
