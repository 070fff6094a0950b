import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { type Received, type Receiver, startReceiver } from "../servers/receiver.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

const CHATS = ["5521966660001", "5521966660002", "5521966660003", "5521966660004"];
/** Concurrent deliveries of a lane, which each kill may repeat. */
const IN_FLIGHT = 4;

let story: E2eStory;
let instance: PairedInstance;
let other: Receiver;
let sent = 0;

beforeAll(async () => {
  story = await createE2eStory();
  other = await startReceiver();
  await story.start();
  instance = await story.pair();
  await story.drained();
});
afterAll(async () => {
  await story.end();
  await other.close();
});

/** The contacts send so many texts in sequence, or until the gateway is dead. */
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

/** Expects the first arrivals of each chat in the order of its events. */
function expectOrder(arrivals: readonly string[], events: readonly EventRow[]): void {
  const firsts = [...new Set(arrivals)];
  for (const chat of new Set(events.map((event) => event.chat))) {
    const inOrder = events.filter((event) => event.chat === chat).map(({ event_id }) => event_id);
    const wanted = new Set(inOrder);
    expect(firsts.filter((id) => wanted.has(id))).toEqual(inOrder.filter((id) => firsts.includes(id)));
  }
}

test("webhooks that are moved and disabled while events arrive, before a kill, get none of the later events at their old addresses", async () => {
  const id = instance.id;
  const client = story.clientOf(instance);
  const webhookOf = async (name: string, url: string) =>
    (await client.createWebhook({ id, name, url, events: ["message.received"] })).data.id;
  const moving = await webhookOf("Moved", `${story.receiver.url}/moving`);
  const disabling = await webhookOf("Disabled", `${story.receiver.url}/disabling`);
  await webhookOf("Second", `${other.url}/second`);
  await story.gateway.kill();
  // Deliveries then queue in their lane.
  story.receiver.respond((_, response) => void setTimeout(() => response.writeHead(200).end(), 20));
  const arrivedAt = (path: string, { received } = story.receiver) =>
    eventIdsOf(received.filter((one) => one.path.endsWith(path)));
  const changed = ["/moving", "/disabling"];
  let lastBefore = 0;
  let arrivedBefore = 0;
  await story.dieAt("delivery:dispatched:150", async () => {
    // Too few for the kill, which comes after the change.
    const written = write(8);
    await story.receiver.waitFor(({ body }) => body.event === "message.received", 10);
    const now = story.clientOf(instance);
    await now.updateWebhook({ id, webhookId: moving, url: `${other.url}/moved` });
    await now.updateWebhook({ id, webhookId: disabling, is_active: false });
    arrivedBefore = changed.flatMap((path) => arrivedAt(path)).length;
    lastBefore = (await readEvents()).at(-1)?.sequence ?? 0;
    await written;
    await write(Number.POSITIVE_INFINITY);
  });
  await story.start();
  await waitUntil(async () => (await story.rows("select from sandbox.inbox")).length === 0);
  await story.drained();
  const events = await readEvents();
  const all = new Set(events.map((event) => event.event_id));
  const later = events.filter(({ sequence }) => sequence > lastBefore).map((event) => event.event_id);
  expect(later.length).toBeGreaterThan(0);
  const old = changed.map((path) => arrivedAt(path));
  expect(later.filter((one) => old.flat().includes(one))).toEqual([]);
  expect(old.flat().length - arrivedBefore).toBeLessThanOrEqual(changed.length * IN_FLIGHT);
  expect(new Set(arrivedAt("/second", other))).toEqual(all);
  expectOrder(arrivedAt("/second", other), events);
  const moved = [...(old[0] ?? []), ...arrivedAt("/moved", other)];
  expect(new Set(moved)).toEqual(all);
  expectOrder(moved, events);
  expectOrder(old[1] ?? [], events);
  const statesOf = async (webhook: number) =>
    (
      await story.rows<{ status: string }>(
        "select distinct status from delivery where webhook_id = $1",
        webhook,
      )
    )
      .map(({ status }) => status)
      .filter((status) => status !== "delivered");
  expect(await statesOf(moving)).toEqual([]);
  expect(await statesOf(disabling)).toEqual(["discarded"]);
});
