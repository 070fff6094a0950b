import { WaygateError } from "../../../src/client/client.ts";
import type { E2eStory, PairedInstance } from "../../e2e/e2e-story.ts";
import type { ContactSay } from "../../e2e/ledgers.ts";
import { receiveTexts } from "../../e2e/ledgers.ts";
import {
  type AcknowledgedSend,
  planSends,
  readStoryLedgers,
  sendAll,
  sendOnce,
  toClientSends,
} from "../../e2e/send-history.ts";
import { waitUntil } from "../../gateway.ts";
import type { Received } from "../../servers/receiver.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import { atMost, IN_FLIGHT, toRoundFigures } from "../report.ts";

const SEND_POINTS = [
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
    // Longer than a start, so that a later send of the chat could overtake one with an unknown outcome.
    const story = await create({ WAYGATE_UNKNOWN_OUTCOME_WAIT: "2500ms" });
    await story.start();
    const instance = await story.pair();
    await story.drained();
    await story.gateway.kill();
    const sending: Promise<AcknowledgedSend[]>[] = [];
    const send = (name: string, count: number, personCount: number) => {
      sending.push(sendAll(story, instance, planSends(name, count, personCount)));
    };
    for (const point of SEND_POINTS) {
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
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: SEND_POINTS.length + 1 + RANDOM_KILLS });
    return {
      ...figures,
      times: [{ what: "sends in doubt are settled after", seconds: await settled, bar: SETTLED_SECONDS }],
      breaches: [...figures.breaches, ...(await isStillPaired(story, instance))],
    };
  },
};

/**
 * Kills the gateway after the network has accepted sends, before their acknowledgement. Without receipts the outcome
 * is unknown.
 */
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

/** Seconds until each send has its outcome. */
async function untilDecided(story: E2eStory, sends: readonly AcknowledgedSend[]): Promise<number> {
  const began = performance.now();
  const open = "select from message where id = any ($1) and outcome_at is null";
  const ids = sends.map(({ id }) => id);
  await waitUntil(async () => (await story.rows(open, ids)).length === 0, 300_000);
  return (performance.now() - began) / 1000;
}

/** Waits until it reconnects without a QR code. */
async function isStillPaired(story: E2eStory, { id, phone }: PairedInstance): Promise<string[]> {
  const qrs = await story.rows("select from event where instance_id = $1 and event = 'instance.qr'", id);
  const devices = await story.rows("select from sandbox.device where phone = $1", phone);
  return [...atMost(1, "QRs", qrs.length), ...atMost(1, "devices", devices.length)];
}

/** Fault points, each with the highest pass at which the gateway dies. A dispatch may take all pending deliveries. */
const DELIVERY_POINTS: [point: string, latest: number][] = [
  ["delivery:dispatched", 1],
  ["delivery:before-connect", 8],
  ["delivery:after-response", 8],
  ["delivery:after-commit", 8],
];
const TEXTS = 24;

/** F2: two instances with separate addresses, so that a misdirected event is seen. */
export const f2: ChaosRow = {
  id: "F2",
  fault:
    "kill -9 around a delivery: after the dispatch, before the connect, before the answer, after it, after the commit",
  async run({ story: create, random }) {
    const story = await create();
    await story.start();
    const instances = [await story.pair(), await story.pair()];
    await story.drained();
    const says: ContactSay[] = [];
    const say = (name: string) => {
      for (const [n, one] of instances.entries())
        says.push(...receiveTexts(story, one, `${name}-${n}`, TEXTS / instances.length));
    };
    await killBeforeResponse(story, () => say("unanswered"));
    for (const [point, latest] of DELIVERY_POINTS)
      await story.dieAt(`${point}:${random.between(1, latest)}`, () => say(point));
    await story.start();
    const deliveries = instances.length * IN_FLIGHT.deliveries;
    return toRoundFigures(await readStoryLedgers(story, { says }), {
      ...IN_FLIGHT,
      deliveries,
      kills: DELIVERY_POINTS.length + 1,
    });
  },
};

/** Kills the gateway after the receiver has read the whole request. */
async function killBeforeResponse({ gateway, receiver }: E2eStory, work: () => void): Promise<void> {
  receiver.respond(() => void gateway.kill());
  work();
  await gateway.exited;
  receiver.respond(200);
}

export const f3: ChaosRow = {
  id: "F3",
  fault: "kill -9, 20 times in a row on the same delivery",
  run: (round) => killSameJob(round, 20),
};

/** Kills use up no attempt: the next one has the number that it would have had. */
export async function killSameJob({ story: create }: Round, deaths: number): Promise<RoundFigures> {
  const story = await create();
  await story.start();
  const instance = await story.pair();
  await story.drained();
  story.receiver.respond(500);
  const said = (received: Received) => received.body.data?.message?.text === "deadly";
  await story.clientOf(instance).sandboxReceive({ id: instance.id, from: "5521966660000", text: "deadly" });
  const [first] = await story.receiver.waitFor(said, 1, 60_000);
  const event = first?.body.event_id;
  const ofEvent = "from job where ref ->> 'event_id' = $1";
  const attempts = async () =>
    (await story.rows<{ attempts: number }>(`select attempts ${ofEvent}`, event))[0]?.attempts ?? 0;
  await waitUntil(async () => (await attempts()) > 0);
  await story.gateway.kill();
  const before = story.receiver.received.filter(said).length;
  story.receiver.respond(200);
  await story.rows("update job set run_at = now() where ref ->> 'event_id' = $1", event);
  const tried = await attempts();
  for (let death = 1; death <= deaths; death++) await story.dieAt("delivery:before-connect:1");
  const after = await attempts();
  await story.start();
  const next = (await story.receiver.waitFor(said, before + 1, 60_000)).at(-1);
  const ledgers = await readStoryLedgers(story, { says: [{ key: "deadly", known: "ok" }] });
  const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: deaths });
  const number = next?.headers["x-waygate-attempt"];
  const isUsedUp = after !== tried || number !== String(tried + 1);
  const reported = `attempts before the deaths ${tried}, after them ${after}, number of the next try ${number}`;
  return {
    ...figures,
    breaches: [...figures.breaches, ...(isUsedUp ? [`deaths used up attempts: ${reported}`] : [])],
  };
}

const MANY = 40;

export const f4: ChaosRow = {
  id: "F4",
  fault: "kill -9 after the commit of a send and before its answer; the client asks again",
  async run({ story: create, random }) {
    const story = await create();
    await story.start();
    const instance = await story.pair();
    await story.drained();
    await story.gateway.kill();
    const askOnce = () => sendOnce(story, instance, { text: "once", number: "5521988887777" }, "key-1");
    const breaches: string[] = [];
    await story.dieAt("accept:after-commit:1", async () => {
      const error = await askOnce().catch((failed: unknown) => failed);
      if (!(error instanceof Error) || error instanceof WaygateError)
        breaches.push("the answer came before the death");
    });
    let many: Promise<AcknowledgedSend[]> | undefined;
    await story.dieAt(`accept:after-commit:${random.between(2, 20)}`, () => {
      many = sendAll(story, instance, planSends("repeated", MANY, 8));
    });
    await story.start();
    const again = await askOnce();
    const onceMore = await askOnce();
    if (JSON.stringify(again) !== JSON.stringify(onceMore))
      breaches.push("the same request was answered differently");
    const accepted = [...((await many) ?? []), again];
    const ledgers = await readStoryLedgers(story, { sends: toClientSends(accepted) });
    const figures = toRoundFigures(ledgers, { ...IN_FLIGHT, kills: 2 });
    const messages = await story.rows("select from message where direction = 'outbound'");
    return {
      ...figures,
      breaches: [...figures.breaches, ...breaches, ...atMost(MANY + 1, "messages", messages.length)],
    };
  },
};
