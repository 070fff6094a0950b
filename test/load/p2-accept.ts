import { percentile, residentMb } from "../run/process-figures.ts";
import { costOfEach, readMeter } from "./cost.ts";
import type { LoadTestOptions } from "./load-options.ts";
import { startLoadStage } from "./load-stage.ts";
import { atOrAbove, type LoadVerdict } from "./load-verdict.ts";
import { offer, spread } from "./open-loop.ts";
import { checkSends, isDrained, openSendingClient } from "./send-ledger.ts";

const P99_MS = 150;

/** P2: async texts at an even pace while they are being sent, and afterwards every accepted one is accounted for. */
export async function runAccept({ seconds = 600, rate = 1_000 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const sender = openSendingClient(stage.gateway.url, [await stage.pair("P2")]);
  const before = await readMeter(stage);
  const offered = await offer({ perSecond: rate, seconds }, sender.send);
  const memory = await residentMb(stage.gateway.pid);
  await sender.close();
  const began = performance.now();
  const drained = await isDrained(stage.database);
  const drainS = ((performance.now() - began) / 1000).toFixed(0);
  const cost = costOfEach(before, await readMeter(stage), offered.count);
  const found = await checkSends(stage.database, sender.accepted);
  console.log(
    `P2: ${rate} texts/s offered for ${seconds} s: ${sender.accepted.length} of ${offered.count} taken, ${spread(offered.latencies)} (goal: p99 below ${P99_MS}), driver late by ${offered.driverLagMs.toFixed(0)} ms at most; refused ${JSON.stringify(Object.fromEntries(sender.refused))}, failed ${offered.failed}`,
  );
  console.log(
    `P2: node ${memory.toFixed(0)} MB; drained ${drainS} s later; ${cost}; ${JSON.stringify(found)}`,
  );
  await stage.close();
  return {
    ledgers: { ...found, undecided: drained ? 0 : 1 },
    missed: [
      ...atOrAbove(P99_MS, "p99 in ms", percentile(offered.latencies, 0.99)),
      ...atOrAbove(1, "sends that were not taken", offered.failed),
    ],
  };
}
