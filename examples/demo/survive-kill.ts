import { setTimeout as delay } from "node:timers/promises";
import {
  createParticipantClient,
  type DemoContext,
  DemoFailure,
  type DemoParticipant,
  waitUntil,
} from "./demo-context.ts";
import type { ReceivedWebhook } from "./demo-receiver.ts";

const SENDS = 240;
const CONCURRENT_SENDS = 24;
const OTHER_RECIPIENTS = 8;
const ALL_EVENTS_MS = 120_000;
/** The count starts after this long without a delivery. */
const QUIET_MS = 1_000;

/** Accepted sends by job. */
type Accepted = ReadonlyMap<string, { text: string; isToFriend: boolean }>;

/** Queues async sends, kills the gateway with SIGKILL, restarts it on the same data, and counts the results. */
export async function surviveKill(
  demo: DemoContext,
  from: DemoParticipant,
  to: DemoParticipant,
  outcomeWait: string,
): Promise<void> {
  const { output, gateway } = demo;
  output.step(`${from.name} sends ${SENDS} texts asynchronously, and the gateway is killed`);
  const startedAt = performance.now();
  const accepted = await sendMany(demo, from, to);
  const took = Math.round(performance.now() - startedAt);
  output.print(
    `${accepted.size} requests with "async": true, each accepted with 202 and a jobId, in ${took} ms.`,
  );
  const pid = gateway.pid;
  await gateway.kill();
  const before = countOutcomes(demo, accepted).size;
  output.print(
    `kill -9 ${pid}: the process ended without a warning. ${before} of the sends had their outcome by then.`,
  );

  output.step("The gateway starts again on the same data");
  const restartedAt = performance.now();
  demo.url = await gateway.start();
  output.print(
    `It listens again after ${seconds(restartedAt)} and uses the database that was still running.`,
  );
  await waitUntil(() => isConnected(demo, from), `${from.name} connects again`);
  output.print(`${from.name} is connected again, without a new QR; the accepted sends continue.`);
  output.print(
    "A text that was being sent when the process died may or may not have reached the network. Such a send",
  );
  output.print(
    `waits for a receipt (${outcomeWait} here, 60 s by default) and is then repeated with the same id.`,
  );
  await waitForAllEvents(demo, to, accepted);
  output.print(`Every send is finished ${seconds(restartedAt)} after the restart.`);
  reportCounts(demo, to, accepted);
}

async function sendMany(demo: DemoContext, from: DemoParticipant, to: DemoParticipant): Promise<Accepted> {
  const client = createParticipantClient(demo, from);
  const accepted = new Map<string, { text: string; isToFriend: boolean }>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < SENDS; i = next++) {
      const isToFriend = i % 2 === 0;
      const number = isToFriend ? to.phone : `55219700${10 + (i % (2 * OTHER_RECIPIENTS))}777`;
      const text = `text ${i}`;
      const { jobId } = await client.sendText({ id: from.id, number, text, async: true });
      if (!jobId) throw new DemoFailure("The response to an async send has no jobId.");
      accepted.set(jobId, { text, isToFriend });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_SENDS }, work));
  return accepted;
}

/** The outcome events of accepted sends: the ids of the events per job. */
function countOutcomes({ receiver }: DemoContext, accepted: Accepted): Map<string, Set<string>> {
  const outcomes = new Map<string, Set<string>>();
  for (const { event } of receiver.delivered) {
    const { jobId = "" } = event.data;
    if (!/^message\.(sent|failed)$/.test(event.event) || !accepted.has(jobId)) continue;
    outcomes.set(jobId, (outcomes.get(jobId) ?? new Set()).add(event.event_id));
  }
  return outcomes;
}

async function isConnected(demo: DemoContext, { id, ...participant }: DemoParticipant): Promise<boolean> {
  const { data } = await createParticipantClient(demo, { id, ...participant }).getInstanceStatus({ id });
  return data.connected;
}

/** Waits until every promised event has arrived and no other follows. */
async function waitForAllEvents(demo: DemoContext, to: DemoParticipant, accepted: Accepted): Promise<void> {
  const hasOutcomes = () => countOutcomes(demo, accepted).size === accepted.size;
  await waitUntil(hasOutcomes, "Every accepted send has its outcome", ALL_EVENTS_MS);
  const hasArrived = () => textsAt(demo, to).length >= countTo(accepted);
  await waitUntil(hasArrived, `${to.name} receives every text`, ALL_EVENTS_MS);
  await waitUntilQuiet(demo);
}

async function waitUntilQuiet({ receiver }: DemoContext): Promise<void> {
  for (let seen = -1; seen !== receiver.delivered.length; ) {
    seen = receiver.delivered.length;
    await delay(QUIET_MS);
  }
}

function reportCounts(demo: DemoContext, to: DemoParticipant, accepted: Accepted): void {
  const { output, receiver } = demo;
  output.step("Count");
  const outcomes = [...countOutcomes(demo, accepted).values()];
  const twice = outcomes.filter((events) => events.size > 1).length;
  output.print(
    `accepted with 202: ${accepted.size}; with exactly one outcome event: ${outcomes.length - twice}.`,
  );
  const arrived = textsAt(demo, to);
  const expected = countTo(accepted);
  output.print(`sent to ${to.name}: ${expected}; received by ${to.name}: ${arrived.length}, each once.`);
  const again = receiver.delivered.length - unique(receiver.delivered).length;
  output.print(
    `webhooks: ${receiver.delivered.length}, of which ${again} arrived a second time, with the same id and the same bytes.`,
  );
  const badlySigned = receiver.delivered.filter(({ signed }) => !signed.own || !signed.standard).length;
  output.print(`webhooks with a wrong signature: ${badlySigned}.`);
  if (twice > 0) throw new DemoFailure(`${twice} accepted sends have more than one outcome event.`);
  if (new Set(arrived).size !== expected || arrived.length !== expected) {
    throw new DemoFailure(`${to.name} did not receive each of ${expected} texts exactly once.`);
  }
  if (badlySigned > 0) throw new DemoFailure(`${badlySigned} webhooks arrived with a wrong signature.`);
}

/** The texts that the friend has received, each event once. */
function textsAt({ receiver }: DemoContext, to: DemoParticipant): string[] {
  return unique(receiver.delivered)
    .filter(({ event }) => event.event === "message.received" && event.instance.id === to.id)
    .map(({ event }) => event.data.message?.text ?? "")
    .filter((text) => text.startsWith("text "));
}

function countTo(accepted: Accepted): number {
  return [...accepted.values()].filter((send) => send.isToFriend).length;
}

/** The first delivery of each event; every redelivery must have the same bytes. */
function unique(delivered: readonly ReceivedWebhook[]): ReceivedWebhook[] {
  const first = new Map<string, ReceivedWebhook>();
  for (const one of delivered) {
    const before = first.get(one.event.event_id);
    if (before && !before.raw.equals(one.raw))
      throw new DemoFailure("A webhook arrived twice with different bytes.");
    if (!before) first.set(one.event.event_id, one);
  }
  return [...first.values()];
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
