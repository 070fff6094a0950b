import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { isSigned, type Receiver, startReceiver } from "../../../test/receiver.ts";

let gateway: TestGateway;
let shop: TestInstance;
let receiver: Receiver;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_RETRY_SCHEDULE: "30s,3m,12m", WAYGATE_WEBHOOK_TIMEOUT: "5s" });
});
afterAll(() => gateway.stop());

beforeEach(async () => {
  receiver = await startReceiver();
  shop = await gateway.connectInstance();
});
afterEach(() => receiver.close());

const say = (text: string, from = "5511977770001") => shop.client.sandboxReceive({ id: shop.id, from, text });
const textIs = (text: string) => (item: { body: { data?: { message?: { text?: string } } } }) =>
  item.body.data?.message?.text === text;
const addWebhook = async (input: Record<string, unknown> = {}) => {
  const { data } = await shop.client.createWebhook({
    id: shop.id,
    name: "Mine",
    url: receiver.url,
    ...input,
  } as never);
  receiver.trust(data.secret);
  return data;
};
const logs = async () =>
  (await shop.client.listDeliveryLogs({ id: shop.id, limit: 200, cursor: undefined })).data;

describe("a webhook", () => {
  test("is created with its own secret, shown in full only once", async () => {
    const webhook = await addWebhook();
    expect(webhook).toMatchObject({
      name: "Mine",
      url: receiver.url,
      is_active: true,
      is_default: false,
      events: [],
      retry_enabled: true,
      max_attempts: 10,
      secret: expect.stringMatching(/^whsec_.{40,}$/),
      last_delivery_at: null,
      last_status: null,
      disabled_reason: null,
    });
    const { data } = await shop.client.listWebhooks({ id: shop.id });
    expect(data).toHaveLength(1);
    expect(data[0]?.secret).toBe(`whsec_****${webhook.secret.slice(-4)}`);
  });

  test("receives each event signed over its raw bytes, with all its headers", async () => {
    await addWebhook();
    await say("Hello");
    const [item] = await receiver.waitFor(textIs("Hello"));
    expect(receiver.forged).toEqual([]);
    expect(item?.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "user-agent": expect.stringMatching(/^Waygate-Webhooks\/\d/),
      "x-waygate-event": "message.received",
      "x-waygate-event-id": item?.body.event_id,
      "x-waygate-attempt": "1",
      "x-waygate-instance": `inst_${shop.id}`,
      "x-waygate-delivery": expect.stringMatching(/^dlv_/),
      "x-waygate-timestamp": expect.stringMatching(/^\d{10}$/),
      "webhook-id": item?.body.event_id,
    });
  });

  test("receives only the events that it subscribes to", async () => {
    await addWebhook({ events: ["message.received"] });
    await shop.client.sendText({ id: shop.id, number: "5511988881234", text: "Out" });
    await say("In");
    await receiver.waitFor(textIs("In"));
    await waitUntil(async () =>
      (await shop.client.listEvents({ id: shop.id })).data.some((e) => e.event === "message.read"),
    );
    expect(new Set(receiver.received.map((item) => item.body.event))).toEqual(new Set(["message.received"]));
  });

  test("can be changed and removed, and its pending deliveries are discarded", async () => {
    const webhook = await addWebhook();
    receiver.respond(500);
    await say("Never");
    await receiver.waitFor(textIs("Never"));
    const { data } = await shop.client.updateWebhook({
      id: shop.id,
      webhookId: webhook.id,
      name: "Renamed",
      max_attempts: 3,
    });
    expect(data).toMatchObject({ name: "Renamed", max_attempts: 3, url: receiver.url });
    await shop.client.deleteWebhook({ id: shop.id, webhookId: webhook.id });
    expect((await shop.client.listWebhooks({ id: shop.id })).data).toEqual([]);
    await waitUntil(async () => {
      const { data: events } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
      return events[0]?.deliveries[0]?.status === "discarded";
    });
  });

  test("of another instance and a missing one are not found", async () => {
    const webhook = await addWebhook();
    const other = await gateway.createInstance();
    await expect(other.client.deleteWebhook({ id: other.id, webhookId: webhook.id })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(shop.client.updateWebhook({ id: shop.id, webhookId: 999_999 })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test.each([
    ["an unknown event", { events: ["message.exploded"] }],
    ["zero attempts", { max_attempts: 0 }],
    ["too many attempts", { max_attempts: 21 }],
    ["an address of another scheme", { url: "ftp://example.com/hook" }],
    ["no address", { url: "not a url" }],
    ["a cloud's metadata service", { url: "http://169.254.169.254/latest" }],
    ["a short secret", { secret: "short" }],
  ])("with %s is rejected and not created", async (_, input) => {
    await expect(addWebhook(input)).rejects.toMatchObject({ code: "VALIDATION_ERROR", status: 400 });
    expect((await shop.client.listWebhooks({ id: shop.id })).data).toEqual([]);
  });
});

describe("a failing delivery", () => {
  test("is retried at the steps of the schedule, with the same bytes, until it succeeds", async () => {
    await addWebhook({ events: ["message.received"] });
    receiver.respond(503);
    await say("Persist");
    await receiver.waitFor(textIs("Persist"), 1);
    await waitUntil(async () => (await logs()).length === 1);
    await gateway.advance(36_001);
    await receiver.waitFor(textIs("Persist"), 2);
    receiver.respond(200);
    await waitUntil(async () => (await logs()).length === 2);
    await gateway.advance(216_001);
    const tries = await receiver.waitFor(textIs("Persist"), 3);
    expect(new Set(tries.map((item) => item.raw.toString("hex"))).size).toBe(1);
    expect(tries.map((item) => item.headers["x-waygate-attempt"])).toEqual(["1", "2", "3"]);
    expect(new Set(tries.map((item) => item.headers["x-waygate-event-id"])).size).toBe(1);
    expect(new Set(tries.map((item) => item.headers["x-waygate-delivery"])).size).toBe(3);
    await waitUntil(async () => (await logs()).length === 3);
    expect((await logs()).map((log) => [log.attempt, log.status_code, log.success])).toEqual([
      [3, 200, true],
      [2, 503, false],
      [1, 503, false],
    ]);
  });

  test("ends after max_attempts, and the event's row shows it", async () => {
    await addWebhook({ events: ["message.received"], max_attempts: 2 });
    receiver.respond(500);
    await say("Give up");
    await waitUntil(async () => (await logs()).length === 1);
    await gateway.advance(36_001);
    await waitUntil(async () => {
      const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
      return data[0]?.deliveries[0]?.status === "failed";
    });
    const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
    expect(data[0]?.deliveries[0]).toMatchObject({
      attempts: 2,
      next_retry_at: null,
      response_status: 500,
      error: "The receiver responded with 500.",
    });
  });

  test("without retries is attempted once", async () => {
    await addWebhook({ events: ["message.received"], retry_enabled: false });
    receiver.respond(500);
    await say("Once");
    await waitUntil(async () => {
      const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
      return data[0]?.deliveries[0]?.status === "failed";
    });
    expect(receiver.received.filter(textIs("Once"))).toHaveLength(1);
  });

  test("succeeds after its receiver was down and has returned", async () => {
    await addWebhook({ events: ["message.received"] });
    await receiver.shut();
    await say("While away");
    await waitUntil(async () => (await logs()).length === 1);
    expect((await logs())[0]).toMatchObject({ success: false, error_class: "refused", status_code: null });
    await receiver.open();
    await gateway.advance(36_001);
    await receiver.waitFor(textIs("While away"));
  });

  test("delays later events of its chat only, and none of them after three failures", async () => {
    await addWebhook({ events: ["message.received"] });
    receiver.respond((item, response) => {
      response.writeHead(item.body.data.message.text === "stuck" ? 500 : 200).end();
    });
    await say("stuck", "5511977770001");
    await waitUntil(async () => (await logs()).length === 1);
    await say("behind", "5511977770001");
    await say("elsewhere", "5511977770002");
    await receiver.waitFor(textIs("elsewhere"));
    expect(receiver.received.filter(textIs("behind"))).toEqual([]);
    await gateway.advance(36_001);
    await waitUntil(async () => (await logs()).filter((log) => !log.success).length === 2);
    await gateway.advance(216_001);
    await receiver.waitFor(textIs("behind"));
    const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
    expect(data.find((event) => event.deliveries[0]?.status === "parked")?.deliveries[0]?.attempts).toBe(3);
  });

  test("to a redirecting receiver does not follow the redirect", async () => {
    const elsewhere = await startReceiver();
    await addWebhook({ events: ["message.received"] });
    receiver.respond((_, response) => {
      response.writeHead(302, { location: elsewhere.url }).end();
    });
    await say("Follow me");
    await waitUntil(async () => (await logs()).length === 1);
    expect((await logs())[0]).toMatchObject({ status_code: 302, success: false });
    expect(elsewhere.received).toEqual([]);
    await elsewhere.close();
  });

  test("to a receiver that never responds ends at the timeout", async () => {
    await addWebhook({ events: ["message.received"] });
    receiver.respond(() => {});
    await say("Hang");
    await waitUntil(async () => (await logs()).length === 1);
    expect((await logs())[0]).toMatchObject({ success: false, error_class: "timeout_total" });
  });
});

describe("events", () => {
  test("are numbered per instance without gaps and can be replayed in order", async () => {
    for (let n = 0; n < 10; n++) await say(`n${n}`, `55119777700${10 + (n % 3)}`);
    await waitUntil(
      async () =>
        (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data.length === 10,
    );
    const { data } = await shop.client.listEvents({ id: shop.id, after: 0, limit: 200 });
    expect(data.map((event) => event.sequence)).toEqual(data.map((_, index) => index + 1));
    expect(data.every((event) => (event.payload as { sequence: number }).sequence === event.sequence)).toBe(
      true,
    );
  });

  test("are listed newest first, page by page", async () => {
    for (let n = 0; n < 5; n++) await say(`n${n}`);
    await waitUntil(
      async () =>
        (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data.length === 5,
    );
    const first = await shop.client.listEvents({ id: shop.id, event: "message.received", limit: 3 });
    expect(first.data).toHaveLength(3);
    const { next_cursor } = (first as unknown as { pagination: { next_cursor: string } }).pagination;
    const second = await shop.client.listEvents({
      id: shop.id,
      event: "message.received",
      limit: 3,
      cursor: next_cursor,
    });
    expect([...first.data, ...second.data].map((event) => event.sequence)).toEqual(
      [...first.data, ...second.data].map((event) => event.sequence).sort((a, b) => b - a),
    );
    expect(second.data).toHaveLength(2);
  });

  test("return their payload on request, by number or by event_id", async () => {
    await say("Detail");
    await waitUntil(
      async () =>
        (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data.length === 1,
    );
    const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
    const event = data[0];
    const byId = await shop.client.getEvent({ id: shop.id, eventId: String(event?.id) });
    const byEventId = await shop.client.getEvent({ id: shop.id, eventId: String(event?.event_id) });
    expect(byId.data).toEqual(byEventId.data);
    expect(byId.data.payload).toMatchObject({
      event: "message.received",
      data: { message: { text: "Detail" } },
    });
    await expect(shop.client.getEvent({ id: shop.id, eventId: "evt_nonsense" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("can be sent again to every subscribed webhook after they were delivered", async () => {
    const webhook = await addWebhook({ events: ["message.received"] });
    await say("Again");
    const [item] = await receiver.waitFor(textIs("Again"));
    await waitUntil(async () => (await logs()).length === 1);
    const response = await shop.client.retryEvent({ id: shop.id, eventId: item?.body.event_id });
    expect(response.data).toEqual({ event_id: item?.body.event_id, webhook_ids: [webhook.id] });
    const [first, second] = await receiver.waitFor(textIs("Again"), 2);
    expect(second?.raw.equals(first?.raw ?? Buffer.alloc(0))).toBe(true);
    await waitUntil(async () => (await logs()).some((log) => log.trigger === "manual" && log.success));
  });

  test("without a subscribed webhook cannot be sent again", async () => {
    await say("Unwanted");
    await waitUntil(
      async () =>
        (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data.length === 1,
    );
    const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
    await expect(
      shop.client.retryEvent({ id: shop.id, eventId: data[0]?.event_id ?? "" }),
    ).rejects.toMatchObject({
      code: "CONFLICT",
      status: 409,
    });
  });

  test("of a failed attempt can be sent again by its log row, which ends the automatic retries", async () => {
    await addWebhook({ events: ["message.received"] });
    receiver.respond(500);
    await say("By log");
    await waitUntil(async () => (await logs()).length === 1);
    receiver.respond(200);
    const [failed] = await logs();
    await shop.client.retryDeliveryLog({ logId: failed?.id ?? 0 });
    await receiver.waitFor(textIs("By log"), 2);
    await waitUntil(async () => {
      const { data } = await shop.client.listEvents({ id: shop.id, event: "message.received" });
      return data[0]?.deliveries[0]?.status === "delivered";
    });
    const jobs = await gateway.database.db.selectFrom("job").selectAll().where("grp", "!=", "x").execute();
    expect(jobs.filter((job) => (job.ref as { event_id?: string }).event_id === failed?.event_id)).toEqual(
      [],
    );
    const other = await gateway.createInstance();
    await expect(other.client.retryDeliveryLog({ logId: failed?.id ?? 0 })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});

describe("the default webhook", () => {
  test("signs with the instance's own secret, and a new secret changes both", async () => {
    const { data } = await shop.client.updateDefaultWebhook({ id: shop.id, url: receiver.url });
    expect(data.is_default).toBe(true);
    receiver.trust(shop.webhook_secret);
    await say("Default");
    await receiver.waitFor(textIs("Default"));
    expect(receiver.forged).toEqual([]);
    const secret = "a-new-secret-that-is-long";
    await shop.client.updateDefaultWebhook({ id: shop.id, secret } as never);
    await say("Rotated");
    const [rotated] = await receiver.waitFor(textIs("Rotated"));
    expect(rotated && isSigned(rotated, secret)).toBe(true);
  });

  test("accepts events inside `webhook` and rejects unknown names of events", async () => {
    const change = (webhook: unknown) =>
      shop.client.updateDefaultWebhook({ id: shop.id, url: receiver.url, webhook } as never);
    const { data } = await change({ events: ["message.received"] });
    expect(data.events).toEqual(["message.received"]);
    await expect(change({ events: ["MESSAGES_UPSERT"] })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/^webhook\.events\.0: "MESSAGES_UPSERT" is not the name of an event/),
    });
    await shop.client.updateDefaultWebhook({ id: shop.id, events: [] });
  });

  test("cannot be changed before it has an address", async () => {
    await expect(shop.client.updateDefaultWebhook({ id: shop.id, is_active: false })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  test("can be disabled and enabled again", async () => {
    await shop.client.updateDefaultWebhook({ id: shop.id, url: receiver.url, events: ["message.received"] });
    await shop.client.updateDefaultWebhook({ id: shop.id, enabled: false } as never);
    await say("Off");
    await waitUntil(
      async () =>
        (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data.length === 1,
    );
    await shop.client.updateDefaultWebhook({ id: shop.id, enabled: true } as never);
    await say("On");
    await receiver.waitFor(textIs("On"));
    expect(receiver.received.filter(textIs("Off"))).toEqual([]);
  });
});

describe("a test delivery", () => {
  test("reaches the webhook regardless of its filter and returns the result", async () => {
    const webhook = await addWebhook({ events: ["message.read"], is_active: false });
    const { data } = await shop.client.testWebhook({ id: shop.id, webhookId: webhook.id });
    expect(data).toMatchObject({ success: true, status_code: 200, event_id: expect.stringMatching(/^evt_/) });
    const [item] = await receiver.waitFor(({ body }) => body.data?.test === true);
    expect(item?.body).toMatchObject({ event: "webhook.sent", event_id: data.event_id });
    expect(receiver.forged).toEqual([]);
    expect((await logs())[0]).toMatchObject({ id: data.log_id, trigger: "test", success: true });
  });

  test("that the receiver rejects returns status, code and message, with the result as details", async () => {
    await shop.client.updateDefaultWebhook({ id: shop.id, url: receiver.url });
    receiver.respond(418);
    await expect(shop.client.testDefaultWebhook({ id: shop.id })).rejects.toMatchObject({
      status: 502,
      code: "SEND_FAILED",
      message: expect.stringMatching(
        /^The test event was not delivered\. The receiver responded with 418\. ./,
      ),
      details: { success: false, status_code: 418, error: "The receiver responded with 418." },
    });
    const [log] = await logs();
    expect(log).toMatchObject({ trigger: "test", success: false, status_code: 418 });
  });

  test("that reaches no receiver explains why and what to do", async () => {
    await receiver.shut();
    const webhook = await addWebhook();
    const tested = shop.client.testWebhook({ id: shop.id, webhookId: webhook.id });
    await expect(tested).rejects.toMatchObject({
      code: "SEND_FAILED",
      message:
        "The test event was not delivered. The connection was refused. (ECONNREFUSED) Start the receiver, and check the host and port of the webhook's url.",
      details: { success: false, status_code: null, log_id: expect.any(Number) },
    });
  });

  test("has a limit per minute", async () => {
    const webhook = await addWebhook();
    for (let n = 0; n < 10; n++) await shop.client.testWebhook({ id: shop.id, webhookId: webhook.id });
    await expect(shop.client.testWebhook({ id: shop.id, webhookId: webhook.id })).rejects.toMatchObject({
      code: "RATE_LIMITED",
      status: 429,
    });
  });
});

test("delivery reports are sent only to subscribers and are never reported themselves", async () => {
  const other = await startReceiver();
  await addWebhook({ events: ["message.received"] });
  await addWebhook({ url: other.url, events: ["webhook.sent", "webhook.retrying"] });
  await say("Reported");
  const [report] = await other.waitFor(({ body }) => body.event === "webhook.sent");
  expect(report?.body.data).toMatchObject({ event: "message.received", attempt: 1, status_code: 200 });
  receiver.respond(500);
  await say("Failing");
  const [retrying] = await other.waitFor(({ body }) => body.event === "webhook.retrying");
  expect(retrying?.body.data).toMatchObject({ event: "message.received", status_code: 500 });
  await waitUntil(async () => (await logs()).length >= 4);
  const { data } = await shop.client.listEvents({ id: shop.id, limit: 200 });
  expect(data.filter((event) => event.event.startsWith("webhook."))).toHaveLength(2);
  await other.close();
});

test("without a subscriber there are no delivery reports", async () => {
  await addWebhook();
  await say("Quiet");
  await receiver.waitFor(textIs("Quiet"));
  await waitUntil(async () => (await logs()).length > 0);
  const { data } = await shop.client.listEvents({ id: shop.id, limit: 200 });
  expect(data.filter((event) => event.event.startsWith("webhook."))).toEqual([]);
});
