import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../src/client/client.ts";
import { percentile } from "../process-figures.ts";
import { startWhatsAppStage, type WhatsAppBenchStage } from "./whatsapp-stage.ts";

const PAIRINGS = 30;
const PATIENCE_MS = 60_000;

/** From the scan of a QR to the delivery of `instance.connected`; half of the QRs are replaced by WhatsApp before. */
export async function benchPairing(): Promise<void> {
  const stage = await startWhatsAppStage();
  const connected = new Map<number, number>();
  const receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    response.end();
    const { event, instance } = JSON.parse(Buffer.concat(parts).toString("utf8"));
    if (event === "instance.connected") connected.set(instance.id, performance.now());
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const { port } = receiver.address() as AddressInfo;
  const scans: number[] = [];
  const redraws: number[] = [];
  for (let n = 0; n < PAIRINGS; n++) {
    const one = await showQr(stage, `http://127.0.0.1:${port}/`);
    if (n % 2 === 1) redraws.push(await replaceQr(stage, one));
    scans.push(await scan(stage, one, connected));
  }
  console.log(
    `${PAIRINGS} pairings, one after the other: from the scan to instance.connected at a webhook p50 ${percentile(scans, 0.5).toFixed(0)} ms, p99 ${percentile(scans, 0.99).toFixed(0)} ms; from WhatsApp's request for a new secret to the new QR in the API p50 ${percentile(redraws, 0.5).toFixed(0)} ms`,
  );
  await stage.stop();
  receiver.close().closeAllConnections();
}

interface Showing {
  id: number;
  client: ReturnType<typeof createClient>;
  phone: string;
  qr: string;
}

async function showQr({ gateway, network }: WhatsAppBenchStage, url: string): Promise<Showing> {
  const { phone } = await network.control.addPerson();
  const webhook = { url, events: ["instance.connected" as const] };
  const { data } = await gateway.owner.createInstance({ name: "Bench", network: "whatsapp", webhook });
  const client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
  const { data: connecting } = await client.connectInstance({ id: data.id, wait_seconds: 60 });
  return { id: data.id, client, phone, qr: connecting.qr_code ?? "" };
}

async function replaceQr({ network }: WhatsAppBenchStage, one: Showing): Promise<number> {
  const { id, client, qr } = one;
  const began = performance.now();
  await network.control.refreshRegistration();
  while (one.qr === qr) {
    one.qr = (await client.getInstanceQr({ id })).data?.qr_code ?? qr;
    await sleep(2);
  }
  return performance.now() - began;
}

async function scan(
  { network }: WhatsAppBenchStage,
  { id, phone, qr }: Showing,
  connected: ReadonlyMap<number, number>,
): Promise<number> {
  const began = performance.now();
  await network.control.scan(phone, qr);
  for (;;) {
    const at = connected.get(id);
    if (at !== undefined) return at - began;
    if (performance.now() - began > PATIENCE_MS) throw new Error(`Instance ${id} did not connect.`);
    await sleep(2);
  }
}
