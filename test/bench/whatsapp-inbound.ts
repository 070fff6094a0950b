import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs, percentile } from "../process-figures.ts";
import { startWhatsAppStage } from "./whatsapp-stage.ts";

const PER_SECOND = 50;
const SECONDS = 20;
const PEOPLE = 25;

/** From a text at the network to its receipt by a webhook. */
export async function benchWhatsAppInbound(): Promise<void> {
  const stage = await startWhatsAppStage();
  const delays: number[] = [];
  const receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    response.end();
    const { data } = JSON.parse(Buffer.concat(parts).toString("utf8"));
    const [what, at] = data.message.text.split(" ");
    if (what === "at") delays.push(Date.now() - Number(at));
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const { port } = receiver.address() as AddressInfo;
  const { phone } = await stage.connect(`http://127.0.0.1:${port}/`);
  const { control } = stage.network;
  const people: string[] = [];
  while (people.length < PEOPLE) people.push((await control.addPerson()).phone);
  for (const one of people) await control.sendMessage(one, phone, "hello");
  const began = performance.now();
  const computed = await cpuMs(stage.gateway.pid);
  const total = PER_SECOND * SECONDS;
  for (let n = 0; n < total; n++) {
    const waitMs = began + (n * 1000) / PER_SECOND - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    void control.sendMessage(people[n % PEOPLE] ?? "", phone, `at ${Date.now()}`);
  }
  const giveUpAt = performance.now() + 30_000;
  while (delays.length < total && performance.now() < giveUpAt) await sleep(20);
  console.log(
    `${PER_SECOND} texts/s from ${PEOPLE} people for ${SECONDS} s, network to webhook: p50 ${percentile(delays, 0.5)} ms (goal: below 25), p99 ${percentile(delays, 0.99)} ms; lost ${total - delays.length}; the gateway computes ${(((await cpuMs(stage.gateway.pid)) - computed) / total).toFixed(1)} ms for each`,
  );
  await stage.stop();
  receiver.close().closeAllConnections();
}
