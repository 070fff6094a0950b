import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import {
  type AcknowledgedSend,
  planSends,
  readStoryLedgers,
  sendAll,
  toClientSends,
} from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { ChaosRow } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, judge } from "../judge.ts";

const POINTS = [
  "send:before-submit",
  "send:before-wire",
  "send:after-wire",
  "send:after-ack",
  "send:after-outcome",
];
const RANDOM_KILLS = 1;
const SETTLED_SECONDS = 90;

export const f1: ChaosRow = {
  id: "F1",
  fault: "kill -9 around a send: at five points, with all unanswered, at random",
  async run({ story: create, random }) {
    // Longer than a start takes, so that a later send of the chat would overtake one in doubt if it could.
    const story = await create({ WAYGATE_UNKNOWN_OUTCOME_WAIT: "2500ms" });
    await story.start();
    const instance = await story.pair();
    await story.drained();
    await story.gateway.kill();
    const sending: Promise<AcknowledgedSend[]>[] = [];
    const send = (name: string, count: number, personCount: number) => {
      sending.push(sendAll(story, instance, planSends(name, count, personCount)));
    };
    for (const point of POINTS) {
      await story.dieAt(`${point}:${random.between(3, 12)}`, () => send(point, 40, 5));
    }
    await story.start();
    const unanswered = await killUnanswered(story, instance);
    sending.push(Promise.resolve(unanswered));
    const settled = untilDecided(story, unanswered);
    send("random", 160, 12);
    for (let kill = 0; kill < RANDOM_KILLS; kill++) {
      const soFar = story.receiver.received.length + random.between(1, 30);
      await waitUntil(() => story.receiver.received.length > soFar, 60_000);
      await story.gateway.kill();
      await story.start();
    }
    const accepted = (await Promise.all(sending)).flat();
    const ledgers = await readStoryLedgers(story, { sends: toClientSends(accepted) });
    const figures = judge(ledgers, { ...IN_FLIGHT, kills: POINTS.length + 1 + RANDOM_KILLS });
    return {
      ...figures,
      times: [{ what: "sends in doubt are settled after", seconds: await settled, bar: SETTLED_SECONDS }],
      breaches: [...figures.breaches, ...(await isStillPaired(story, instance))],
    };
  },
};

/** Between the network's taking and its answer; a receipt would tell what became of them, without one they are in doubt. */
async function killUnanswered(story: E2eStory, instance: PairedInstance): Promise<AcknowledgedSend[]> {
  const plan = Array.from({ length: IN_FLIGHT.sends }, (_, i) => {
    return { text: `slow-${i}`, number: `5521987${String(i).padStart(2, "0")}0005` };
  });
  const accepted = await sendAll(story, instance, plan);
  const arrived = "select 1 from sandbox.ledger where outcome = 'slow'";
  await waitUntil(async () => (await story.rows(arrived)).length >= IN_FLIGHT.sends, 60_000);
  await story.gateway.kill();
  await story.rows("delete from sandbox.inbox");
  await story.start();
  return accepted;
}

/** The seconds from now until each has its outcome. */
async function untilDecided(story: E2eStory, sends: readonly AcknowledgedSend[]): Promise<number> {
  const began = performance.now();
  const open = "select from message where id = any ($1) and outcome_at is null";
  const ids = sends.map(({ id }) => id);
  await waitUntil(async () => (await story.rows(open, ids)).length === 0, 300_000);
  return (performance.now() - began) / 1000;
}

/** It connects again by itself, without a QR. */
async function isStillPaired(story: E2eStory, { id, phone }: PairedInstance): Promise<string[]> {
  const qrs = await story.rows("select from event where instance_id = $1 and event = 'instance.qr'", id);
  const devices = await story.rows("select from sandbox.device where phone = $1", phone);
  return [...atMost(1, "QRs", qrs.length), ...atMost(1, "devices", devices.length)];
}
