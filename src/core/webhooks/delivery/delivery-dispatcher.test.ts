import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createGate } from "../../../../test/gate.ts";
import { waitUntil } from "../../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../../test/servers/receiver.ts";
import {
  createDeliveryStory,
  type DeliveryStory,
  type DeliveryWorker,
} from "../../../../test/stories/engine/delivery-story.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { EventDraft } from "../../events/events.ts";
import { changeWebhook, type NewWebhook, type WebhookChange } from "../save-webhook.ts";
import { addressColumns, type WebhookRow } from "../webhook-record.ts";
import { publishWebhookChange } from "./delivery-dispatcher.ts";
import { disableWebhook } from "./disable-webhook.ts";

let story: DeliveryStory;
let db: Db;
let receiver: Receiver;
let other: Receiver;
let worker: DeliveryWorker;
let instance: { id: number; account_id: number };

beforeAll(async () => {
  story = await createDeliveryStory();
  ({ db } = story.database);
});
beforeEach(async () => {
  [receiver, other] = await Promise.all([startReceiver(), startReceiver()]);
  // Excludes deliveries by the poll.
  worker = await story.startWorker("worker", { pollMs: 60_000 });
  instance = await story.addInstance();
});
afterEach(async () => {
  await story.rest();
  await Promise.all([receiver.close(), other.close()]);
});
afterAll(() => story.close());

const draft = (n: number, chat = "chat"): EventDraft => ({
  event: "message.received",
  instance_id: instance.id,
  chat,
  data: { n },
});
const numbersAt = (at: Receiver) => at.received.map(({ body }) => body.data.n);

/** A webhook whose lane the worker has claimed and read: event 0 is delivered, in its own chat. */
async function addWebhook(input: Partial<NewWebhook> = {}): Promise<WebhookRow> {
  const webhook = await story.addWebhook(instance, { url: receiver.url, ...input });
  await worker.record(draft(0, "first"));
  await waitUntil(() => story.ran.length === 1);
  receiver.received.length = 0;
  story.ran.length = 0;
  return webhook;
}

/** Deliveries then depend on memory. */
async function forgetEvents(): Promise<void> {
  await db.deleteFrom("event").where("instance_id", "=", instance.id).execute();
}

/** Records an event. The returned function starts the deliveries. */
const recordOnly = (...drafts: EventDraft[]) =>
  db.transaction().execute((trx) => worker.deliveries.record(trx, drafts));

/** Changes the webhook as a handler does. */
async function change(webhook: WebhookRow, what: Omit<WebhookChange, "overlap_seconds">): Promise<void> {
  await db
    .transaction()
    .execute((trx) => changeWebhook(trx, story.savedWith, webhook, { ...what, overlap_seconds: 0 }));
  publishWebhookChange(worker.engine);
}

/** Holds the receiver's responses until the returned function is called. */
function hold(): () => void {
  const held = createGate();
  receiver.respond(async (_, response) => {
    await held.opened;
    response.writeHead(200).end();
  });
  return held.open;
}

test.each([
  ["is gone after a success", 200, 10, true],
  ["remains after a failure that is retried", 500, 10, false],
  ["is gone after the last failure", 500, 1, true],
  ["is gone after the receiver's 410", 410, 10, true],
])("the job of a delivery %s, and its result says so", async (_, status, max_attempts, isGone) => {
  await addWebhook({ max_attempts });
  receiver.respond(status);
  await worker.record(draft(1));
  await waitUntil(() => story.ran.length === 1);
  expect(story.ran).toEqual([
    { hasRow: !isGone, result: expect.objectContaining({ end: "committed", deleted: isGone }) },
  ]);
});

describe("a delivery of an event that this node has just recorded", () => {
  test("does not read the event, and sends the stored bytes", async () => {
    await addWebhook({ headers: { "x-mine": "yes" } });
    const dispatch = await recordOnly({ ...draft(1), data: { n: 1, text: "Olá 👋 \u0000 \ud800" } });
    const { body } = await db
      .selectFrom("event")
      .select("body")
      .where("instance_id", "=", instance.id)
      .orderBy("sequence", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
    await forgetEvents();
    dispatch();
    const [request] = await receiver.waitFor(({ body: sent }) => sent.data.n === 1);
    expect(request?.raw).toEqual(body);
    expect(request?.headers).toMatchObject({ "x-mine": "yes", "x-waygate-attempt": "1" });
  });

  test("leaves the same rows as one that reads the event, whatever the receiver responds", async () => {
    await addWebhook({ max_attempts: 2 });
    for (const status of [200, 500, 429]) {
      receiver.respond(status);
      const [fromMemory, fromDatabase] = [`memory ${status}`, `database ${status}`];
      await worker.record(draft(status, fromMemory));
      await waitUntil(() => story.ran.length === 1);
      const read = await recordOnly(draft(status, fromDatabase));
      worker.deliveries.clear();
      read();
      worker.engine.wake(await lanes(), { changed: true });
      await waitUntil(() => story.ran.length === 2);
      expect(await rowsOf(fromMemory)).toEqual(await rowsOf(fromDatabase));
      expect(story.ran[0]).toMatchObject({ hasRow: story.ran[1]?.hasRow });
      story.ran.length = 0;
    }
  });

  test("is retried with the event and the webhook as they are then", async () => {
    const webhook = await addWebhook();
    receiver.respond(500);
    await worker.record(draft(1));
    await waitUntil(() => story.ran.length === 1);
    // The change comes first, because a due job may be read at any time.
    await change(webhook, { url: other.url });
    await db
      .updateTable("job")
      .set({ run_at: new Date(0) })
      .execute();
    worker.engine.wake(await lanes(), { changed: true });
    const [request] = await other.waitFor(({ body }) => body.data.n === 1);
    expect(request?.headers["x-waygate-attempt"]).toBe("2");
  });

  test("of the operator's webhook is sent as such", async () => {
    await db
      .insertInto("webhook")
      .values({
        name: "Global",
        ...addressColumns(story.box, 1_000_000, receiver.url),
        events: ["message.received"],
        event_names: ["message.received"],
        secret: story.box.seal("whsec_secret", { table: "webhook", column: "secret", key: [1_000_000] }),
        id: 1_000_000,
      })
      .execute();
    const lane = await story.lane("webhook", `global:${instance.id}`);
    await db.updateTable("instance").set({ global_lane: lane }).where("id", "=", instance.id).execute();
    await worker.record(draft(0));
    await waitUntil(() => story.ran.length === 1);
    const dispatch = await recordOnly(draft(1));
    await forgetEvents();
    dispatch();
    await receiver.waitFor(({ body }) => body.data.n === 1);
    await db.deleteFrom("webhook").where("id", "=", 1_000_000).execute();
  });
});

describe("a webhook that changes after an event of it was recorded", () => {
  test("gets the event at its new address, if the change is committed before the event is dispatched", async () => {
    const webhook = await addWebhook();
    const dispatch = await recordOnly(draft(1));
    await change(webhook, { url: other.url });
    dispatch();
    await other.waitFor(({ body }) => body.data.n === 1);
    expect(numbersAt(receiver)).toEqual([]);
  });

  test("gets the events that wait in its lane at its new address", async () => {
    const webhook = await addWebhook();
    const release = hold();
    await worker.record(draft(1), draft(2), draft(3));
    await receiver.waitFor(({ body }) => body.data.n === 1);
    await change(webhook, { url: other.url });
    release();
    await waitUntil(() => story.ran.length === 3);
    expect([numbersAt(receiver), numbersAt(other)]).toEqual([[1], [2, 3]]);
  });

  test("gets nothing more once it is disabled", async () => {
    const webhook = await addWebhook();
    const release = hold();
    await worker.record(draft(1), draft(2));
    await receiver.waitFor(({ body }) => body.data.n === 1);
    await disableWebhook({ db, engine: worker.engine }, webhook.id, instance.id, {
      error: "Tired.",
      reason: "no_success",
      params: { days: 5 },
    });
    release();
    await waitUntil(() => story.ran.length === 2);
    expect(numbersAt(receiver)).toEqual([1]);
    const { rows } = await story.database.pool.query(
      "select status from delivery where webhook_id = $1 order by id",
      [webhook.id],
    );
    expect(rows.map(({ status }) => status)).toEqual(["delivered", "delivered", "discarded"]);
  });

  test("on another node gets its events at the new address as soon as that node has notified this one", async () => {
    const webhook = await addWebhook();
    const api = await story.start("api", [], { roles: ["api"] });
    await waitUntil(() => api.countLiveNodes("worker") === 1);
    const isCleared = new Promise<void>((resolve) => worker.engine.subscribe("webhook", () => resolve()));
    const dispatch = await recordOnly(draft(1));
    await db
      .transaction()
      .execute((trx) => changeWebhook(trx, story.savedWith, webhook, { url: other.url, overlap_seconds: 0 }));
    publishWebhookChange(api);
    await isCleared;
    dispatch();
    await other.waitFor(({ body }) => body.data.n === 1);
    expect(numbersAt(receiver)).toEqual([]);
  });
});

describe("the events of a chat", () => {
  test("are delivered in their order, one after the other, though they are recorded at once", async () => {
    await addWebhook();
    const numbers = Array.from({ length: 40 }, (_, n) => n + 1);
    for (const n of numbers) await worker.record(draft(n));
    await waitUntil(() => story.ran.length === numbers.length);
    expect(numbersAt(receiver)).toEqual(numbers);
  });

  test("wait for an earlier one of another node, whose notification is lost", async () => {
    await addWebhook();
    await story.record([draft(1)]);
    await worker.record(draft(2));
    await waitUntil(() => story.ran.length === 2);
    expect(numbersAt(receiver)).toEqual([1, 2]);
  });

  test("wait for an earlier one of another node, though later events went to other webhooks only", async () => {
    await addWebhook();
    await story.addWebhook(instance, { url: other.url, events: ["message.sent"] });
    await story.record([draft(1)]);
    await worker.record({ ...draft(2), event: "message.sent" });
    await worker.record(draft(3));
    await waitUntil(() => story.ran.length === 3);
    expect(numbersAt(receiver)).toEqual([1, 3]);
  });

  test("keep their order if two nodes record them in turn", async () => {
    await addWebhook();
    const second = await story.startWorker("second", { pollMs: 60_000 });
    const numbers = Array.from({ length: 40 }, (_, n) => n + 1);
    for (const n of numbers) await (n % 3 === 0 ? second : worker).record(draft(n));
    await waitUntil(() => story.ran.length === numbers.length);
    expect(numbersAt(receiver)).toEqual(numbers);
  });
});

async function lanes(): Promise<number[]> {
  return (await db.selectFrom("lane").select("id").execute()).map(({ id }) => id);
}

/** The rows of the chat's attempt, without names and times. */
async function rowsOf(chat: string): Promise<unknown[]> {
  const { rows } = await story.database.pool.query(
    `select d.status, d.attempts, d.next_retry_at is null as has_ended, d.delivered_at is null as is_undelivered,
       d.response_status, d.error, d.created_at = e.created_at as is_of_event,
       a.event, a.event_at = e.created_at as is_attempt_of_event, a.webhook_id, a.webhook_name, a.account_id,
       a.instance_id, a.url, a.attempt, a.trigger, a.success, a.status_code, a.error_class, a.response_body,
       a.delivery_id = d.id as is_of_delivery, j.attempts as job_attempts, j.grp = e.chat as is_of_chat,
       j.run_at > now() as waits
     from event e join delivery d on d.event_id = e.event_id left join attempt a on a.event_id = e.event_id
     left join job j on (j.ref ->> 'delivery')::bigint = d.id
     where e.chat = $1`,
    [chat],
  );
  return rows;
}
