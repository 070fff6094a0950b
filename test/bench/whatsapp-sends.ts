import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { phoneJid } from "../../src/network/jid.ts";
import { percentile } from "../process-figures.ts";
import { RawClient } from "../whatsapp-server/raw-client.ts";
import { hardenSignatures, trustRoot } from "../whatsapp-server/trust.ts";
import type { BenchInstance } from "./bench-gateway.ts";
import { startWhatsAppStage, type WhatsAppBenchStage } from "./whatsapp-stage.ts";

const SECONDS = 10;
const READERS = 50;
const MANY = 20;

/** Texts through HTTP, each answered when the network has it, against the client library alone in the same run. */
export async function benchWhatsAppSends(): Promise<void> {
  console.info = () => {};
  console.warn = () => {};
  const stage = await startWhatsAppStage();
  const readers = await stage.addReaders(READERS);
  const rawOne = await measureRaw(stage, readers, 1);
  const one = [await stage.connect()];
  await warmUp(one, readers);
  show("1 session", rawOne, await measureHttp(stage, one, readers, 10));
  const rawMany = await measureRaw(stage, readers, MANY);
  const many = [...one];
  while (many.length < MANY) many.push(await stage.connect());
  await warmUp(many, readers);
  show(`${MANY} sessions`, rawMany, await measureHttp(stage, many, readers, 2 * MANY));
  await stage.stop();
}

interface Sends {
  perSecond: number;
  p50: number;
  p99: number;
  failed: number;
}

function show(sessions: string, raw: number, { perSecond, p50, p99, failed }: Sends): void {
  const share = ((perSecond / raw) * 100).toFixed(0);
  console.log(
    `${sessions}: ${perSecond.toFixed(0)} texts/s through HTTP, ${raw.toFixed(0)}/s by the library alone: ${share} % (goal: 50 % or more); p50 ${p50} ms, p99 ${p99} ms (goal: below 100); failed ${failed}`,
  );
}

/** Conversations are begun once, outside of the measure, as the library's are. */
async function warmUp(instances: BenchInstance[], readers: string[]): Promise<void> {
  await Promise.all(
    instances.map(async ({ id, client }) => {
      for (const number of readers) await client.sendText({ id, number, text: "hello" });
    }),
  );
}

async function measureHttp(
  stage: WhatsAppBenchStage,
  instances: BenchInstance[],
  readers: string[],
  connections: number,
): Promise<Sends> {
  const runs = instances.map((instance) => shoot(stage, instance, readers, connections / instances.length));
  const results = await Promise.all(runs);
  const sum = (of: (result: autocannon.Result) => number) => results.reduce((all, one) => all + of(one), 0);
  return {
    perSecond: sum(({ "2xx": taken, duration }) => taken / duration),
    p50: percentile(
      results.map(({ latency }) => latency.p50),
      0.5,
    ),
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
    failed: sum(({ non2xx, errors }) => non2xx + errors),
  };
}

function shoot(
  { gateway }: WhatsAppBenchStage,
  { id, api_key }: BenchInstance,
  readers: string[],
  connections: number,
): Promise<autocannon.Result> {
  let n = 0;
  return autocannon({
    url: `${gateway.url}/api/v1/instances/${id}/send-text`,
    connections,
    duration: SECONDS,
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": api_key },
    setupClient: (client) => {
      const next = () => {
        n += 1;
        client.setBody(JSON.stringify({ number: readers[n % readers.length], text: `text ${n}` }));
      };
      next();
      client.on("response", next);
    },
  });
}

/** Texts a second of `sendMessage`, with ten under way in each session. */
async function measureRaw(stage: WhatsAppBenchStage, readers: string[], sessions: number): Promise<number> {
  trustRoot(stage.network.rootKeyHex);
  hardenSignatures();
  const clients: RawClient[] = [];
  for (let i = 0; i < sessions; i++) clients.push(await pairRaw(stage));
  const send = (client: RawClient, n: number) =>
    client.socket.sendMessage(phoneJid(readers[n % readers.length] ?? ""), { text: `text ${n}` });
  await Promise.all(
    clients.map(async (client) => {
      for (const n of readers.keys()) await send(client, n);
    }),
  );
  let sent = 0;
  const until = performance.now() + SECONDS * 1000;
  const work = async (client: RawClient): Promise<void> => {
    while (performance.now() < until) {
      await send(client, sent++);
      await nextTurn();
    }
  };
  await Promise.all(clients.flatMap((client) => Array.from({ length: 10 }, () => work(client))));
  for (const client of clients) client.close();
  return sent / SECONDS;
}

async function pairRaw({ network }: WhatsAppBenchStage): Promise<RawClient> {
  const { phone } = await network.control.addPerson();
  const client = new RawClient(network, { connectTimeoutMs: 20_000 });
  client.connect();
  while (!client.qr) await sleep(5);
  await network.control.scan(phone, client.qr);
  while (client.closes.length === 0) await sleep(5);
  client.connect();
  while (client.opened === 0) await sleep(5);
  return client;
}
