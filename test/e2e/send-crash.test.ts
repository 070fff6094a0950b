import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";
import { FLAWLESS, planSends, readHistory, sendAll } from "./send-history.ts";

/** Sends that a session lane has in flight at most. */
const IN_FLIGHT = 16;
/** Deliveries that a webhook lane has in flight at most. */
const DELIVERIES = 4;

describe("async sends of a gateway that is killed", () => {
  let story: E2eStory;
  let instance: PairedInstance;

  beforeAll(async () => {
    // Longer than a start takes, so that a later send of the chat would overtake one in doubt if it could.
    story = await createE2eStory({ WAYGATE_DOUBT_WAIT: "2500ms" });
    await story.start();
    instance = await story.pair();
    await story.gateway.kill();
  });
  afterEach(() => story.gateway.kill());
  afterAll(() => story.end());

  test.each(["send:before-submit", "send:before-wire", "send:after-wire", "send:after-ack"])(
    "at %s all end in one outcome each, under one id, in the order of their chat",
    async (point) => {
      story.receiver.received.length = 0;
      const { exited } = await story.start({ WAYGATE_FAULT_POINT: `${point}:7` });
      const sending = sendAll(story, instance, planSends(point, 40, 5));
      expect(await exited).toEqual({ code: null, signal: "SIGKILL" });
      await story.start();
      const history = await readHistory(story, instance, await sending);
      expect(history).toMatchObject(FLAWLESS);
      expect(history.repeatedIds).toBeLessThanOrEqual(IN_FLIGHT);
      expect(history.repeatedDeliveries).toBeLessThanOrEqual(DELIVERIES);
      expect(story.receiver.forged).toEqual([]);
    },
  );

  test("between the network's taking and its answer are repeated under the same id and decided once", async () => {
    story.receiver.received.length = 0;
    await story.start();
    const plan = Array.from({ length: IN_FLIGHT }, (_, i) => ({
      text: `slow-${i}`,
      number: `552198765${i}0005`,
    }));
    const accepted = await sendAll(story, instance, plan);
    const arrived = `select 1 from sandbox.ledger where phone = $1 and outcome = 'slow'`;
    await waitUntil(async () => (await story.rows(arrived, instance.phone)).length === IN_FLIGHT);
    await story.gateway.kill();
    // A receipt would tell what became of the send; without one it is in doubt.
    await story.rows("delete from sandbox.mailbox");
    await story.start();
    const history = await readHistory(story, instance, accepted);
    expect(history).toMatchObject({ ...FLAWLESS, repeatedIds: IN_FLIGHT });
  });

  test("at four random moments all end in one outcome each", async () => {
    story.receiver.received.length = 0;
    const kills = 4;
    await story.start();
    const sending = sendAll(story, instance, planSends("random", 240, 12));
    for (let i = 0; i < kills; i++) {
      const soFar = story.receiver.received.length;
      const more = Math.floor(Math.random() * 30);
      await waitUntil(() => story.receiver.received.length > soFar + more);
      await story.gateway.kill();
      await story.start();
    }
    const history = await readHistory(story, instance, await sending);
    expect(history).toMatchObject(FLAWLESS);
    expect(history.repeatedIds).toBeLessThanOrEqual(IN_FLIGHT * kills);
    expect(history.repeatedDeliveries).toBeLessThanOrEqual(DELIVERIES * kills);
    expect(story.receiver.forged).toEqual([]);
  });

  test("leave the instance paired: it connects again by itself, without a QR", async () => {
    const { id } = instance;
    await story.start();
    await waitUntil(() => story.isConnected(instance));
    const [row] = await story.rows<{ qrs: number }>(
      `select count(*)::int as qrs from event where instance_id = $1 and event = 'instance.qr'`,
      id,
    );
    const [devices] = await story.rows<{ count: number }>(
      `select count(*)::int as count from sandbox.device where phone = $1`,
      instance.phone,
    );
    expect({ ...row, ...devices }).toEqual({ qrs: 1, count: 1 });
  });
});
