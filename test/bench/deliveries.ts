import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { type EventDraft, recordEvents } from "../../src/features/events/events.ts";
import type { Db } from "../../src/platform/db/database.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { percentile } from "../process-figures.ts";
import { connectInstance } from "./bench-gateway.ts";
import { type BenchStage, withBenchStage } from "./bench-stage.ts";

const RECEIVERS = 20;
const BATCH = 20;

interface Receiver {
  server: Server;
  url: string;
  /** Milliseconds from the record of an event to its arrival. */
  delays: number[];
}

/** Deliveries a second with a durable log row per try, and what one hanging receiver does to the others. */
export async function benchDeliveries(): Promise<void> {
  const flood = await run({ perSecond: 1500, seconds: 20, hanging: 0 });
  console.log(
    `deliveries to ${RECEIVERS} healthy receivers, 1500 events/s offered for 20 s: ${flood.perSecond.toFixed(0)}/s until drained (goal: 1000/s or more), p50 ${flood.p50.toFixed(0)} ms, p99 ${flood.p99.toFixed(0)} ms, lost ${flood.lost}`,
  );
  const calm = await run({ perSecond: 400, seconds: 20, hanging: 0 });
  const noisy = await run({ perSecond: 400, seconds: 20, hanging: 1 });
  const rise = (noisy.p99 / calm.p99 - 1) * 100;
  console.log(
    `p99 at 400 events/s: ${calm.p99.toFixed(0)} ms; with one hanging receiver beside them ${noisy.p99.toFixed(0)} ms: ${rise.toFixed(0)} % more (goal: less than 20 %)`,
  );
  const busy = await run({ perSecond: 1000, seconds: 20, hanging: 1 });
  console.log(
    `1000 events/s with one hanging receiver: ${busy.perSecond.toFixed(0)}/s until drained, p99 ${busy.p99.toFixed(0)} ms, lost ${busy.lost}`,
  );
}

interface Pace {
  perSecond: number;
  seconds: number;
}

async function run({ hanging, ...pace }: Pace & { hanging: number }) {
  const healthy = await Promise.all(Array.from({ length: RECEIVERS }, () => startReceiver(false)));
  const hung = await Promise.all(Array.from({ length: hanging }, () => startReceiver(true)));
  const closeAll = (): void => {
    for (const { server } of [...healthy, ...hung]) server.close().closeAllConnections();
  };
  const delivering = withBenchStage((stage) => deliver(stage, healthy, hung, pace));
  const { expected, tookMs } = await delivering.finally(closeAll);
  const delays = healthy.flatMap((receiver) => receiver.delays);
  return {
    perSecond: (delays.length / tookMs) * 1000,
    p50: percentile(delays, 0.5),
    p99: percentile(delays, 0.99),
    lost: expected - delays.length,
  };
}

/** Waits until the healthy ones have all of theirs, for a minute at most. */
async function deliver(
  { gateway, database }: BenchStage,
  healthy: readonly Receiver[],
  hung: readonly Receiver[],
  { perSecond, seconds }: Pace,
): Promise<{ expected: number; tookMs: number }> {
  const instances: number[] = [];
  for (const { url } of [...healthy, ...hung]) instances.push((await connectInstance(gateway, url)).id);
  // A node that only records: it tells the gateway of new jobs as any other node does.
  const log = createLog("silent");
  const engine = createEngine({ database, log, node_id: "bench", roles: ["api"], claimImmediately: false });
  await engine.start();
  try {
    const began = performance.now();
    const offered = await offer({ db: database.db, engine }, instances, perSecond, seconds);
    const expected = (offered / instances.length) * healthy.length;
    const received = () => healthy.reduce((sum, { delays }) => sum + delays.length, 0);
    const giveUpAt = performance.now() + 60_000;
    while (received() < expected && performance.now() < giveUpAt) await sleep(20);
    return { expected, tookMs: performance.now() - began };
  } finally {
    await engine.stop();
  }
}

/** Records events at an even pace, whatever the deliveries do: an open loop shows queueing. */
async function offer(
  { db, engine }: { db: Db; engine: Engine },
  instances: number[],
  perSecond: number,
  seconds: number,
): Promise<number> {
  const began = performance.now();
  let offered = 0;
  const total = Math.floor((perSecond * seconds) / instances.length) * instances.length;
  while (offered < total) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond));
    const drafts: EventDraft[] = [];
    for (; offered < due && drafts.length < 5 * BATCH; offered++) drafts.push(draftOf(instances, offered));
    if (drafts.length > 0) engine.wake(await db.transaction().execute((trx) => recordEvents(trx, drafts)));
    else await sleep(2);
  }
  return offered;
}

function draftOf(instances: number[], n: number): EventDraft {
  const instance_id = instances[n % instances.length] ?? 0;
  const data = { at: Date.now(), message: { text: "x".repeat(600) } };
  return {
    event: "message.received",
    instance_id,
    chat: `chat ${Math.floor(n / instances.length) % 50}`,
    data,
  };
}

function startReceiver(isHanging: boolean): Promise<Receiver> {
  const delays: number[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (isHanging) return;
      response.writeHead(200).end();
      const { data } = JSON.parse(Buffer.concat(parts).toString("utf8")) as { data: { at?: number } };
      if (data.at !== undefined) delays.push(Date.now() - data.at);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, delays });
    });
  });
}
