import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";
import { type EventDraft, MAX_BODY_BYTES, recordEvents, serializeEvent } from "./events.ts";

const story = setUpWebhookStory();
const { addWebhook, receive, logs } = story;
const BIA = "5511977771011";

const record = (drafts: EventDraft[]) =>
  story.gateway.database.db.transaction().execute((trx) => recordEvents(trx, drafts));
const draft = (event: EventDraft["event"], data: Record<string, unknown> = {}): EventDraft => ({
  event,
  instance_id: story.shop.id,
  chat: "chat",
  data,
});

async function list(filter: Record<string, unknown> = {}) {
  const { data } = await story.shop.client.listEvents({ id: story.shop.id, after: 0, limit: 200, ...filter });
  return data;
}

describe("the event sequence", () => {
  test("has no gap and no duplicate with concurrent writers, and every body has its own number", async () => {
    const before = (await list()).length;
    const writers = Array.from({ length: 20 }, (_, n) =>
      record([draft("message.received", { n: `${n}a` }), draft("message.sent", { n: `${n}b` })]),
    );
    await Promise.all(writers);
    const events = await list();
    expect(events).toHaveLength(before + 40);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    for (const { sequence, payload, event_id } of events)
      expect(payload).toMatchObject({ sequence, event_id });
  });

  test("does not advance if the transaction is rolled back", async () => {
    const before = (await list()).length;
    const failing = story.gateway.database.db.transaction().execute(async (trx) => {
      await recordEvents(trx, [draft("message.received")]);
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await record([draft("message.received")]);
    expect((await list()).at(-1)?.sequence).toBe(before + 1);
  });

  test("is separate for each instance", async () => {
    const other = await story.gateway.createInstance();
    await record([draft("message.received"), { ...draft("message.received"), instance_id: other.id }]);
    const { data } = await other.client.listEvents({ id: other.id, after: 0 });
    expect(data.map(({ sequence }) => sequence)).toEqual([1]);
  });

  test("records nothing for an unknown instance", async () => {
    expect(await record([{ ...draft("message.received"), instance_id: 999_999 }])).toEqual([]);
  });
});

describe("an event replay", () => {
  test("after a sequence returns later events as they were delivered, oldest first, in pages", async () => {
    await addWebhook({ events: ["message.received"] });
    for (let n = 1; n <= 5; n++) await receive(`n${n}`, BIA);
    await story.receiver.waitFor(textIs("n5"));
    const [, second] = await list({ event: "message.received" });
    const { id, client } = story.shop;
    const page = { id, event: "message.received", after: second?.sequence, limit: 2 } as const;
    const first = await client.listEvents(page);
    const { pagination } = first as unknown as { pagination: { next_cursor: string; has_more: boolean } };
    expect(pagination.has_more).toBe(true);
    const rest = await client.listEvents({ ...page, cursor: pagination.next_cursor });
    const payloads = [...first.data, ...rest.data].map(({ payload }) => payload);
    const delivered = ["n3", "n4", "n5"].map((text) => story.receiver.received.find(textIs(text))?.body);
    expect(payloads).toEqual(delivered);
  });

  test("after the last sequence is empty", async () => {
    await receive("Last", BIA);
    const last = (await list()).at(-1)?.sequence ?? 0;
    expect(await list({ after: last })).toEqual([]);
    expect(await list({ after: last + 1_000 })).toEqual([]);
  });
});

describe("a list of events", () => {
  test("shows each event's delivery result at each webhook, and can be filtered by webhook", async () => {
    const good = await addWebhook();
    const bad = await story.startReceiver();
    bad.respond(500);
    const failing = await addWebhook({ url: bad.url, retry_enabled: false });
    const { event_id } = await receive("Two ways", BIA);
    const own = await addWebhook({ events: ["message.sent"] });
    await waitUntil(async () => (await logs()).length === 2);
    const [event] = await list({ event: "message.received" });
    expect(event?.deliveries).toMatchObject([
      { webhook_id: good.id, status: "delivered", attempts: 1, response_status: 200 },
      { webhook_id: failing.id, status: "failed", attempts: 1, response_status: 500 },
    ]);
    expect((await list({ webhook_id: good.id })).map((one) => one.event_id)).toEqual([event_id]);
    expect(await list({ webhook_id: own.id })).toEqual([]);
    expect((await logs({ webhook_id: failing.id })).map(({ status_code }) => status_code)).toEqual([500]);
    expect(await logs({ success: "false" })).toHaveLength(1);
    expect(await logs({ event_id })).toHaveLength(2);
    expect(await logs({ event: "message.sent" })).toEqual([]);
  });

  test("without `after` contains no payloads", async () => {
    await receive("Plain", BIA);
    const { data } = await story.shop.client.listEvents({ id: story.shop.id });
    expect(data.every((event) => !("payload" in event))).toBe(true);
  });
});

describe("an event that is larger than 256 KiB", () => {
  test("is delivered truncated, marked as truncated, and signed as sent", async () => {
    await addWebhook({ events: ["message.received"] });
    const text = "請".repeat(65_536);
    story.gateway.gateway.engine.wake(
      await record([draft("message.received", { message: { text, quoted: { text } }, marker: "big" })]),
    );
    const [item] = await story.receiver.waitFor(({ body }) => body.data.marker === "big");
    expect(item?.raw.length).toBeLessThanOrEqual(262_144);
    expect(item?.body.truncated).toBe(true);
    expect(story.receiver.forged).toEqual([]);
  });
});

describe("opt-in events", () => {
  test("are not recorded without a subscriber", async () => {
    const before = (await list()).length;
    expect(await record([draft("webhook.sent"), draft("message.delivered"), draft("call.received")])).toEqual(
      [],
    );
    expect(await list()).toHaveLength(before);
  });

  test("are recorded for a webhook of the instance or a global one, but not for a disabled one", async () => {
    const webhook = await addWebhook({ events: ["call.received"], is_active: false });
    await record([draft("call.received")]);
    await story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, is_active: true });
    await record([draft("call.received", { n: 1 })]);
    await story.gateway.admin.putGlobalWebhook({ url: story.receiver.url, events: ["group.updated"] });
    await record([draft("group.updated", { n: 2 })]);
    const names = (await list()).map(({ event }) => event).filter((name) => !name.startsWith("instance."));
    expect(names).toEqual(["call.received", "group.updated"]);
    await story.gateway.admin.putGlobalWebhook({ url: "" });
  });

  test("about deliveries never report their own deliveries", async () => {
    const watcher = await story.startReceiver();
    watcher.respond(500);
    await addWebhook({ events: ["*"] });
    await addWebhook({ url: watcher.url, events: ["webhook.*"], max_attempts: 1 });
    await receive("Reported", BIA);
    await story.receiver.waitFor(({ body }) => body.event === "webhook.sent");
    await waitUntil(async () => (await logs({ event: "webhook.sent" })).length >= 2);
    await waitUntil(async () => {
      const events = await list();
      return events.every(({ deliveries }) => deliveries.every(({ status }) => status !== "pending"));
    });
    const events = await list();
    const reported = events.filter(({ event }) => event.startsWith("webhook."));
    for (const { payload } of reported) {
      expect((payload as { data: { event: string } }).data.event).not.toMatch(/^webhook\./);
    }
    const deliveries = events
      .filter(({ event }) => !event.startsWith("webhook."))
      .flatMap((one) => one.deliveries);
    expect(reported).toHaveLength(deliveries.length);
  });
});

const wholeEvent = (data: Record<string, unknown>) => ({ event_id: "evt_1", sequence: 0, data });

describe("the body of an event", () => {
  test("is unchanged if it fits", () => {
    const whole = wholeEvent({ text: "ação 👋", list: [1, 2, 3] });
    expect(serializeEvent(whole)).toBe(JSON.stringify(whole));
  });

  test.each([
    ["the longest text of three-byte characters", "請".repeat(65_536)],
    ["the longest text of emojis", "👋".repeat(32_768)],
    ["the longest text of line breaks", "\n".repeat(65_536)],
  ])("contains %s whole", (_, text) => {
    const body = serializeEvent(wholeEvent({ message: { text } }));
    expect(JSON.parse(body)).toEqual(wholeEvent({ message: { text } }));
  });

  test.each([
    ["two of the longest texts", { text: "請".repeat(65_536), quoted: { text: "請".repeat(65_536) } }],
    ["a text of nothing but escapes", { text: "\u0001".repeat(65_536) }],
    ["an endless list", { mentions: Array.from({ length: 100_000 }, (_, n) => `55${n}@s.whatsapp.net`) }],
    [
      "many long texts",
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, "x".repeat(9_000)])),
    ],
    ["deep lists of long texts", { a: [[["y".repeat(300_000)]], ["z".repeat(300_000)]] }],
  ])("with %s is truncated to the largest size and marked as truncated", (_, data) => {
    const body = serializeEvent(wholeEvent(data));
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BODY_BYTES);
    const cut = JSON.parse(body);
    expect(cut).toMatchObject({ event_id: "evt_1", truncated: true });
    expect(Object.keys(cut.data)).toEqual(Object.keys(data));
  });

  test("is truncated between characters, and no more than necessary", () => {
    const { data } = JSON.parse(
      serializeEvent(wholeEvent({ text: `a${"👋".repeat(100_000)}`, short: "stays" })),
    );
    expect(data.short).toBe("stays");
    expect(data.text).toMatch(/^a(👋)+…$/u);
    expect(data.text.length).toBeGreaterThan(16_000);
  });
});
