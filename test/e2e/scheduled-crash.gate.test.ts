import { afterAll, beforeAll, expect, test } from "vitest";
import { newPhone } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { createE2eStory, type E2eStory } from "./e2e-story.ts";

beforeAll(buildDist);

let story: E2eStory;

beforeAll(async () => {
  story = await createE2eStory();
});
afterAll(() => story.end());

const HOUR_MS = 3_600_000;
const FROM_DUE_ON = ["send:after-release", "send:before-wire", "send:after-outcome"];

test("a scheduled message goes out once, however often its process is killed before and after its time", {
  timeout: 600_000,
}, async () => {
  await story.start();
  const instance = await story.pair();
  await story.gateway.kill();
  const body = {
    id: instance.id,
    number: newPhone(),
    text: "On time",
    send_at: new Date(Date.now() + HOUR_MS).toISOString(),
  };
  const send = () => story.clientOf(instance).sendText(body, { idempotencyKey: "on-time" });
  await story.dieAt("accept:after-commit", () => send().catch(() => {}));
  await story.start();
  const { message_id, message } = (await send()).data as { message_id: string; message: object };
  expect(message).toMatchObject({ status: "scheduled" });
  await story.gateway.kill();
  await story.rows("update message set send_at = now() where message_id = $1", message_id);
  await story.rows("update job set run_at = now() where ref ? 'scheduled'");
  for (const point of FROM_DUE_ON) await story.dieAt(point);
  await story.start();
  await story.drained();
  const arrivals = await story.rows(
    "select from sandbox.ledger where action = 'send' and message_id = $1",
    message_id,
  );
  const outcomes = story.receiver.received.filter(
    ({ body: told }) =>
      /^message\.(sent|failed)$/.test(told.event) && told.data.message.message_id === message_id,
  );
  expect([arrivals.length, new Set(outcomes.map(({ body: told }) => told.event_id)).size]).toEqual([1, 1]);
  expect(outcomes[0]?.body.event).toBe("message.sent");
});
