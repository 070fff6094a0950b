import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildDist } from "../build-dist.ts";
import { waitUntil } from "../gateway.ts";
import { type Received, type Receiver, startReceiver } from "../receiver.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

const CHATS = ["5521966660001", "5521966660002", "5521966660003", "5521966660004"];
/** A lane has so many deliveries in flight, and each kill repeats these at most. */
const IN_FLIGHT = 4;

let story: E2eStory;
let instance: PairedInstance;
let other: Receiver;
let sent: number;

beforeEach(async () => {
  story = await createE2eStory();
  other = await startReceiver();
  sent = 0;
  await story.start();
  instance = await story.pair();
  await story.drained();
});
afterEach(async () => {
  await story.end();
  await other.close();
});

/** The contacts write so many texts, each one after the other, or until the gateway is dead. */
async function write(texts: number): Promise<void> {
  const client = story.clientOf(instance);
  const writeAll = async (from: string): Promise<void> => {
    for (let n = 0; n < texts; n++) {
      sent += 1;
      await client.sandboxReceive({ id: instance.id, from, text: `${sent}` });
    }
  };
  await Promise.allSettled(CHATS.map(writeAll));
}

const writeUntilDead = () => write(Number.POSITIVE_INFINITY);

/** What the contacts wrote before a kill reaches the gateway after its next start, and its webhooks after that. */
async function everythingArrived(): Promise<void> {
  await waitUntil(async () => (await story.rows("select from sandbox.mailbox")).length === 0, 60_000);
  await story.drained();
}

interface EventRow {
  event_id: string;
  sequence: number;
  chat: string;
}

const readEvents = () =>
  story.rows<EventRow>(
    "select event_id, sequence, chat from event where instance_id = $1 and event = 'message.received' order by sequence",
    instance.id,
  );

function eventIdsOf(requests: readonly Received[]): string[] {
  return requests.filter(({ body }) => body.event === "message.received").map(({ body }) => body.event_id);
}

/** Whether the first arrivals of each chat are in the order of its events. */
function expectOrder(arrivals: readonly string[], events: readonly EventRow[]): void {
  const firsts = [...new Set(arrivals)];
  for (const chat of new Set(events.map((event) => event.chat))) {
    const inOrder = events.filter((event) => event.chat === chat).map(({ event_id }) => event_id);
    const wanted = new Set(inOrder);
    expect(firsts.filter((id) => wanted.has(id))).toEqual(inOrder.filter((id) => firsts.includes(id)));
  }
}

test("kills between an event's commit and its attempt lose no delivery, and each chat keeps its order", async () => {
  const kills = [1, 9, 40];
  await story.gateway.kill();
  for (const nth of kills) await story.dieAt(`delivery:dispatched:${nth}`, writeUntilDead);
  await story.start();
  await everythingArrived();
  const events = await readEvents();
  const arrivals = eventIdsOf(story.receiver.received);
  expect(new Set(arrivals)).toEqual(new Set(events.map(({ event_id }) => event_id)));
  expect(arrivals.length - events.length).toBeLessThanOrEqual(kills.length * IN_FLIGHT);
  expectOrder(arrivals, events);
  expect(story.receiver.forged).toEqual([]);
});

test.each(["moved", "disabled"])(
  "a webhook that is %s while events arrive, before a kill, gets none of the later events at its old address",
  async (change) => {
    const client = story.clientOf(instance);
    const { data: webhooks } = await client.listWebhooks({ id: instance.id });
    const webhookId = webhooks[0]?.id ?? 0;
    await client.createWebhook({
      id: instance.id,
      name: "Second",
      url: `${other.url}/second`,
      events: ["message.received"],
    });
    await story.gateway.kill();
    // Deliveries then wait in their lane.
    story.receiver.respond((_, response) => void setTimeout(() => response.writeHead(200).end(), 20));
    let lastBefore = 0;
    let arrivedBefore = 0;
    await story.dieAt("delivery:dispatched:150", async () => {
      // Too few for the kill, which comes after the change.
      const written = write(10);
      await story.receiver.waitFor(({ body }) => body.event === "message.received", 10);
      const what = change === "moved" ? { url: `${other.url}/moved` } : { is_active: false };
      await story.clientOf(instance).updateWebhook({ id: instance.id, webhookId, ...what });
      arrivedBefore = eventIdsOf(story.receiver.received).length;
      lastBefore = (await readEvents()).at(-1)?.sequence ?? 0;
      await written;
      await writeUntilDead();
    });
    await story.start();
    await everythingArrived();
    const events = await readEvents();
    const later = new Set(
      events.filter(({ sequence }) => sequence > lastBefore).map((event) => event.event_id),
    );
    const before = eventIdsOf(story.receiver.received);
    expect(later.size).toBeGreaterThan(0);
    expect(before.filter((id) => later.has(id))).toEqual([]);
    expect(before.length - arrivedBefore).toBeLessThanOrEqual(IN_FLIGHT);
    const arrivals = other.received.filter(({ path }) => path.endsWith("/second"));
    expect(new Set(eventIdsOf(arrivals))).toEqual(new Set(events.map(({ event_id }) => event_id)));
    expectOrder(eventIdsOf(arrivals), events);
    const moved = eventIdsOf(other.received.filter(({ path }) => path.endsWith("/moved")));
    expectOrder([...before, ...moved], events);
    if (change === "moved")
      expect(new Set([...before, ...moved])).toEqual(new Set(events.map(({ event_id }) => event_id)));
    const states = await story.rows<{ status: string }>(
      "select distinct status from delivery where webhook_id = $1 order by status",
      webhookId,
    );
    expect(states.map(({ status }) => status).filter((status) => status !== "delivered")).toEqual(
      change === "moved" ? [] : ["discarded"],
    );
  },
);
