import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestInstance } from "../../../../../test/gateway.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../../test/stories/messaging-story.ts";
import { createSecondRecorder } from "../../../../../test/stories/second-recorder.ts";
import { failStuckSends } from "./fail-stuck-sends.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});

afterAll(() => story.stop());

let personCount = 0;
/** The network never acknowledges sends to these numbers. */
const silent = () => `55119${6000 + personCount++}0002`;

/** Queues one send without an acknowledgement and a second one of the same chat behind it. */
async function queueTwo({ id, client }: TestInstance) {
  const number = silent();
  const queue = async (text: string) =>
    (await client.sendText({ id, number, text, async: true })).pendingMessageId ?? "";
  const [begun, behind] = [await queue("first"), await queue("second")];
  await waitUntil(async () => (await story.ledger({ message_id: begun })).length === 1);
  return { begun, behind };
}

const failureOf = async (instance: TestInstance, messageId: string) => {
  const [found] = await story.receiver.waitFor(
    ({ body }) =>
      body.event === "message.failed" &&
      body.instance.id === instance.id &&
      body.data.message.message_id === messageId,
  );
  return found?.body.data.error;
};

test.each(["banned", "logged out"])(
  "the waiting sends of an instance that is %s fail at once with that reason",
  async (end) => {
    const instance = await story.join({ name: end });
    const { begun, behind } = await queueTwo(instance);
    if (end === "banned") await instance.client.sandboxBan({ id: instance.id });
    else await instance.client.logoutInstance({ id: instance.id });
    expect(await failureOf(instance, behind)).toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
      message: expect.stringContaining(end),
      retryable: false,
    });
    expect(await failureOf(instance, begun)).toMatchObject({ code: "UNKNOWN_OUTCOME" });
  },
);

test("a sync send that waits behind another one fails at once when its instance is banned", async () => {
  const instance = await story.join({ name: "Impatient" });
  const number = silent();
  const { id, client } = instance;
  const { pendingMessageId = "" } = await client.sendText({ id, number, text: "first", async: true });
  await waitUntil(async () => (await story.ledger({ message_id: pendingMessageId })).length === 1);
  const { messages } = await story.rows();
  const refused = client.sendText({ id, number, text: "second" }).catch((error: unknown) => error);
  await waitUntil(async () => (await story.rows()).messages > messages);
  await client.sandboxBan({ id });
  expect(await refused).toMatchObject({ code: "INSTANCE_NOT_CONNECTED", status: 409 });
});

test("a send that starts while its instance is banned keeps its job until it has an outcome", async () => {
  const instance = await story.join({ name: "Begins" });
  const { behind } = await queueTwo(instance);
  const { db } = story.gateway.database;
  const { outcomes } = createSecondRecorder(story.gateway);
  let failing = Promise.resolve();
  await db.transaction().execute(async (trx) => {
    await sql`update message set submitted_at = now() where message_id = ${behind}`.execute(trx);
    await db.updateTable("instance").set({ status: "banned" }).where("id", "=", instance.id).execute();
    failing = failStuckSends(db, outcomes);
    await waitUntil(isSomebodyWaiting);
  });
  await failing;
  await failStuckSends(db, outcomes);
  expect(await failureOf(instance, behind)).toMatchObject({ code: "UNKNOWN_OUTCOME" });
});

async function isSomebodyWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
    story.gateway.database.db,
  );
  return rows.length > 0;
}
