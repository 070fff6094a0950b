import { afterAll, beforeAll, expect, test } from "vitest";
import { IN_FLIGHT, toRoundFigures } from "../chaos/report.ts";
import { readWhatsApp } from "../chaos/whatsapp-ledger.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { drawFromSeed } from "../run/draw-from-seed.ts";
import { readStoryLedgers } from "./send-history.ts";
import { createSyncClients } from "./sync-clients.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

const PEOPLE = 6;
const POINTS = [
  "accept:after-commit",
  "accept:before-run",
  "send:before-wire",
  "send:after-wire",
  "send:after-ack",
  "send:after-outcome",
];

let on: WhatsAppStory;

beforeAll(async () => {
  // A queued send must not miss its deadline while the gateway starts on a slow machine.
  on = await startWhatsAppStory({
    env: { WAYGATE_UNKNOWN_OUTCOME_WAIT: "2500ms", WAYGATE_ACK_TIMEOUT: "60s" },
  });
});
afterAll(() => on.end());

/** Submitted messages that have not reached the network. */
async function readSubmittedOnly(): Promise<string[]> {
  const rows = await on.story.rows<{ message_id: string }>(
    "select message_id from message where submitted_at is not null and outcome_at is null",
  );
  const arrived = new Set((await on.network.control.ledger()).arrivals.map(({ id }) => id));
  return rows.flatMap(({ message_id }) => (arrived.has(message_id) ? [] : [message_id]));
}

test("kills at six points and one at random lose no sync send, repeat at most those in flight, and keep each chat in order", {
  timeout: 600_000,
}, async () => {
  const { story, network } = on;
  const random = drawFromSeed();
  const people: string[] = [];
  for (let n = 0; n < PEOPLE; n++)
    people.push((await network.control.addPerson({ phone: newPhone() })).phone);
  await on.start();
  await on.pair();
  await story.gateway.kill();
  const clients = createSyncClients(on, people);
  let isOver = false;
  let sending: Promise<void> | undefined;
  for (const point of POINTS) {
    await story.dieAt(`${point}:10`, () => {
      sending ??= clients.send(
        "text",
        () => story.gateway.url,
        () => isOver,
      );
    });
    // At that point the accepting statement has already marked the send as submitted.
    if (point === "accept:before-run") expect(await readSubmittedOnly()).not.toEqual([]);
  }
  await on.start();
  const soFar = clients.count() + PEOPLE + random.between(1, 20);
  await waitUntil(() => clients.count() > soFar);
  await story.gateway.kill();
  await on.start();
  isOver = true;
  await sending;
  await story.drained(240_000);
  const sends = await clients.readLedger();
  const ledgers = await readStoryLedgers(story, { sends, network: await readWhatsApp(network.control) });
  expect(toRoundFigures(ledgers, { ...IN_FLIGHT, kills: POINTS.length + 1 }).breaches).toEqual([]);
  for (const number of people) {
    const order = sends
      .filter(({ chat, known }) => chat === number && known === "ok")
      .map((one) => one.order ?? 0);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
});
