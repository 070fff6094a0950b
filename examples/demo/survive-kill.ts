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
const AT_ONCE = 24;
const OTHERS = 8;
const SETTLED_MS = 120_000;
/** The count starts after this long without a delivery. */
const QUIET_MS = 1_000;

/** Accepted sends by job. */
type Accepted = ReadonlyMap<string, { text: string; isToFriend: boolean }>;

/** Queues async sends, kills the gateway with SIGKILL, restarts it on the same data, and counts the results. */
export async function surviveKill(
  stage: DemoContext,
  from: DemoParticipant,
  to: DemoParticipant,
  doubtWait: string,
): Promise<void> {
  const { tell, gateway } = stage;
  tell.step(`${from.name} sends ${SENDS} texts asynchronously, and the gateway is killed`);
  const startedAt = performance.now();
  const accepted = await sendMany(stage, from, to);
  const took = Math.round(performance.now() - startedAt);
  tell.say(
    `${accepted.size} requests with "async": true, each answered with 202 and a jobId, in ${took} ms.`,
  );
  const pid = gateway.pid;
  await gateway.kill();
  const before = countOutcomes(stage, accepted).size;
  tell.say(
    `kill -9 ${pid}: the process is gone without a warning. ${before} of them had their outcome until then.`,
  );

  tell.step("The gateway starts again on the same data");
  const restartedAt = performance.now();
  stage.url = await gateway.start();
  tell.say(`It listens again after ${seconds(restartedAt)}, finds the database still running and adopts it.`);
  await waitUntil(() => isConnected(stage, from), `${from.name} connects again`);
  tell.say(`${from.name} is connected again, without a new QR; what was accepted goes on where it stood.`);
  tell.say(
    "A text that was on its way when the process died may or may not have reached the network. Such a send",
  );
  tell.say(
    `waits for a receipt (${doubtWait} here, 60 s otherwise) and then goes out again under the same id.`,
  );
  await settle(stage, to, accepted);
  tell.say(`All is done ${seconds(restartedAt)} after the new start.`);
  count(stage, to, accepted);
}

async function sendMany(stage: DemoContext, from: DemoParticipant, to: DemoParticipant): Promise<Accepted> {
  const client = createParticipantClient(stage, from);
  const accepted = new Map<string, { text: string; isToFriend: boolean }>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < SENDS; i = next++) {
      const isToFriend = i % 2 === 0;
      const number = isToFriend ? to.phone : `55219700${10 + (i % (2 * OTHERS))}777`;
      const text = `text ${i}`;
      const { jobId } = await client.sendText({ id: from.id, number, text, async: true });
      if (!jobId) throw new DemoFailure("An async send was not answered with a jobId.");
      accepted.set(jobId, { text, isToFriend });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
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

async function isConnected(stage: DemoContext, { id, ...person }: DemoParticipant): Promise<boolean> {
  const { data } = await createParticipantClient(stage, { id, ...person }).getInstanceStatus({ id });
  return data.connected;
}

/** Waits until every promised event has arrived and no other follows. */
async function settle(stage: DemoContext, to: DemoParticipant, accepted: Accepted): Promise<void> {
  const hasOutcomes = () => countOutcomes(stage, accepted).size === accepted.size;
  await waitUntil(hasOutcomes, "Every accepted send has its outcome", SETTLED_MS);
  const hasArrived = () => textsAt(stage, to).length >= countTo(accepted);
  await waitUntil(hasArrived, `${to.name} receives every text`, SETTLED_MS);
  await quiet(stage);
}

async function quiet({ receiver }: DemoContext): Promise<void> {
  for (let seen = -1; seen !== receiver.delivered.length; ) {
    seen = receiver.delivered.length;
    await delay(QUIET_MS);
  }
}

function count(stage: DemoContext, to: DemoParticipant, accepted: Accepted): void {
  const { tell, receiver } = stage;
  tell.step("Count");
  const outcomes = [...countOutcomes(stage, accepted).values()];
  const twice = outcomes.filter((events) => events.size > 1).length;
  tell.say(
    `accepted with 202: ${accepted.size}; with exactly one outcome event: ${outcomes.length - twice}.`,
  );
  const arrived = textsAt(stage, to);
  const expected = countTo(accepted);
  tell.say(`sent to ${to.name}: ${expected}; received by ${to.name}: ${arrived.length}, each once.`);
  const again = receiver.delivered.length - unique(receiver.delivered).length;
  tell.say(
    `webhooks: ${receiver.delivered.length}, of which ${again} came a second time, with the same id and the same bytes.`,
  );
  const badlySigned = receiver.delivered.filter(({ signed }) => !signed.own || !signed.standard).length;
  tell.say(`webhooks with a wrong signature: ${badlySigned}.`);
  if (twice > 0) throw new DemoFailure(`${twice} accepted sends have more than one outcome event.`);
  if (new Set(arrived).size !== expected || arrived.length !== expected) {
    throw new DemoFailure(`${to.name} did not receive each of ${expected} texts exactly once.`);
  }
  if (badlySigned > 0) throw new DemoFailure(`${badlySigned} webhooks came with a wrong signature.`);
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
      throw new DemoFailure("A webhook came twice with different bytes.");
    if (!before) first.set(one.event.event_id, one);
  }
  return [...first.values()];
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
