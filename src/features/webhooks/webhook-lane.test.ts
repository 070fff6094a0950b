import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { createDeliveryStory, type DeliveryStory } from "../../../test/stories/delivery-story.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EventDraft } from "../events/events.ts";

let story: DeliveryStory;
let receiver: Receiver;
let engine: Engine;

beforeAll(async () => {
  story = await createDeliveryStory();
});
beforeEach(async () => {
  receiver = await startReceiver();
  ({ engine } = await story.startWorker("worker"));
});
afterEach(async () => {
  await story.rest();
  await receiver.close();
});
afterAll(() => story.close());

const draft = (instance_id: number, n = 0): EventDraft => ({
  event: "message.received",
  instance_id,
  chat: "chat",
  data: { n },
});

describe("a delivery's job", () => {
  test.each([
    ["is gone after a success", 200, 10, true],
    ["remains after a failure that is retried", 500, 10, false],
    ["is gone after the last failure", 500, 1, true],
    ["is gone after the receiver's 410", 410, 10, true],
  ])("%s, and its result says so", async (_, status, max_attempts, isGone) => {
    const instance = await story.addInstance();
    await story.addWebhook(instance, { url: receiver.url, max_attempts });
    receiver.respond(status);
    engine.wake(await story.record([draft(instance.id)]));
    await waitUntil(() => story.ran.length === 1);
    expect(story.ran).toEqual([
      { hasRow: !isGone, result: expect.objectContaining({ end: "committed", deleted: isGone }) },
    ]);
  });
});
