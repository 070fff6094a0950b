import { startEventSource } from "./event-source.ts";
import type { LoadTestOptions } from "./load-options.ts";
import { allHaveCome, pairEach, slopeAnHour, startLoadStage, watchProcess } from "./load-stage.ts";
import { atOrAbove, type LoadVerdict } from "./load-verdict.ts";
import { offer, spread } from "./open-loop.ts";
import { startReceivers } from "./receivers.ts";
import { checkSends, isDrained, openSendingClient } from "./send-ledger.ts";

const RECEIVERS = 20;
const SAMPLE_MS = 10_000;
/** Until caches are full and code is compiled, memory grows by itself. */
const WARM_PART = 0.4;
/** Resident MB in an hour. */
const MOST_GROWTH = 1;

/** P8: half of P2 and P3 together for long: memory and open files must not grow. */
export async function runSoak({ seconds = 1_800, rate = 500 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const receivers = await startReceivers(RECEIVERS);
  const instances = await pairEach(stage, receivers, "P8");
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
  const slope = slopeAnHour(steady, ({ residentMb }) => residentMb);
  console.log(
    `P8: after the first ${WARM_PART * 100} %: ${slope.toFixed(1)} MB/h resident (goal: below ${MOST_GROWTH}), from ${steady[0]?.residentMb.toFixed(0)} to ${steady.at(-1)?.residentMb.toFixed(0)} MB; open files ${Math.min(...files)} to ${Math.max(...files)}`,
  );
  console.log(`P8: ${JSON.stringify({ sends, deliveries })}`);
  receivers.close();
  await stage.close();
  const { events, ...differences } = deliveries;
  return {
    ledgers: {
      ...Object.fromEntries(Object.entries(sends).map(([name, count]) => [`sends ${name}`, count])),
      ...differences,
      missing: recorded - events,
      undelivered: isReceived ? 0 : 1,
      undecided: isSent ? 0 : 1,
    },
    missed: [
      ...atOrAbove(MOST_GROWTH, "MB/h resident", slope),
      ...atOrAbove(1, "sends that were not taken", offered.failed),
    ],
  };
}
