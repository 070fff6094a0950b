import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { isSigned } from "../../../test/servers/receiver.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";
import { DELIVERY_HEADERS } from "./delivery/delivery-headers.ts";

const story = setUpWebhookStory();
const TOKEN = "the-token-of-the-old-gateway";

describe("a webhook in the format of another gateway", () => {
  test("receives the same bytes, with the same signature, at every attempt", async () => {
    const { receiver } = story;
    receiver.respond(500);
    await story.addWebhook({ format: "evolution", format_token: TOKEN });
    await story.receive("Hello");
    await waitUntil(async () => (await story.logs()).length === 1);
    receiver.respond(200);
    await story.gateway.advance(60_000);
    const [first, second] = await receiver.waitFor(() => true, 2);
    expect(second?.raw.equals(first?.raw ?? Buffer.alloc(0))).toBe(true);
    expect(receiver.forged).toEqual([]);
    expect(first?.body).toMatchObject({
      event: "messages.upsert",
      instance: "Sales",
      apikey: TOKEN,
      destination: receiver.url,
      data: { message: { conversation: "Hello" } },
    });
    expect(first?.headers["x-waygate-event"]).toBe("message.received");
    const [log] = await story.logs();
    expect(log?.request_payload).toMatchObject({ event: "messages.upsert", apikey: "****" });
    expect(JSON.stringify(log)).not.toContain(TOKEN);
  });

  test("of WAHA also has that gateway's signature", async () => {
    const { receiver } = story;
    const { secret } = await story.addWebhook({ format: "waha" });
    await story.receive("Hello");
    const [got] = await receiver.waitFor(({ body }) => body.event === "message");
    const expected = createHmac("sha512", secret)
      .update(got?.raw ?? "")
      .digest("hex");
    expect(got?.headers["x-webhook-hmac"]).toBe(expected);
    expect(got?.headers["x-webhook-hmac-algorithm"]).toBe("sha512");
    expect(got?.headers["x-webhook-request-id"]).toBe(got?.headers["x-waygate-delivery"]);
    expect(Number(got?.headers["x-webhook-timestamp"])).toBeGreaterThan(1_700_000_000_000);
    expect(receiver.forged).toEqual([]);
  });

  test("does not receive events without a counterpart, and they cause no attempt and no log", async () => {
    const { receiver, shop } = story;
    const { id, client } = shop;
    const numbers = { refused: "5511966660001", good: "5511966661234" };
    await story.addWebhook({ format: "uazapi", format_token: TOKEN, events: [] });
    await client.sendText({ id, number: numbers.refused, text: "No", async: true });
    await client.sendText({ id, number: numbers.good, text: "Yes", async: true });
    await receiver.waitFor(({ body }) => body.type === "ReadReceipt" && body.state === "Read");
    const failures = async () => (await client.listEvents({ id, event: "message.failed" })).data;
    await waitUntil(async () => (await failures()).length > 0);
    const events = await failures();
    expect(events.map(({ deliveries }) => deliveries)).toEqual([[]]);
    const said = receiver.received.map(({ body }) => body.EventType);
    expect(new Set(said)).toEqual(new Set(["messages", "messages_update"]));
    expect(receiver.received.every(({ body }) => body.token === TOKEN)).toBe(true);
  });

  test("can be created and changed, and keeps its token if it is sent back masked", async () => {
    const { id, client } = story.shop;
    const webhook = await story.addWebhook();
    expect([webhook.format, webhook.format_token]).toEqual(["native", null]);
    const change = { id, webhookId: webhook.id };
    const { data } = await client.updateWebhook({ ...change, format: "uazapi", format_token: TOKEN });
    expect([data.format, data.format_token]).toEqual(["uazapi", "****"]);
    await client.updateWebhook({ ...change, name: "Renamed", format_token: "****" });
    await story.receive("Hello");
    const [got] = await story.receiver.waitFor(({ body }) => body.EventType === "messages");
    expect(got?.body.token).toBe(TOKEN);
    const back = await client.updateWebhook({ ...change, format: "native", format_token: null });
    expect([back.data.format, back.data.format_token]).toEqual(["native", null]);
    const { data: preset } = await client.updateDefaultWebhook({
      id,
      url: story.receiver.url,
      format: "waha",
    });
    expect(preset.format).toBe("waha");
  });

  test("keeps its token bound to its origin, also for the default webhook", async () => {
    const { id, client } = story.shop;
    const elsewhere = await story.startReceiver();
    const input = { format: "uazapi", format_token: TOKEN } as const;
    const webhook = await story.addWebhook(input);
    await client.updateDefaultWebhook({ id, url: story.receiver.url, ...input });
    const issue = "must be sent again when the address changes; send null for none";
    const refusal = { code: "VALIDATION_ERROR", details: { fields: [{ field: "format_token", issue }] } };
    for (const change of [{ url: elsewhere.url }, { url: elsewhere.url, format_token: "****" }]) {
      const moved = client.updateWebhook({ id, webhookId: webhook.id, ...change });
      await expect(moved).rejects.toMatchObject(refusal);
      await expect(client.updateDefaultWebhook({ id, ...change })).rejects.toMatchObject(refusal);
    }
    await client.updateWebhook({ id, webhookId: webhook.id, url: elsewhere.url, format_token: null });
    await story.receive("Hello");
    const [got] = await elsewhere.waitFor(({ body }) => body.EventType === "messages");
    expect(got?.body).not.toHaveProperty("token", TOKEN);
    expect(JSON.stringify(elsewhere.received)).not.toContain(TOKEN);
  });

  test("is rejected if the format is unknown or has no counterpart for an event", async () => {
    const { id, client } = story.shop;
    const given = { id, url: story.receiver.url };
    const refused = [
      { ...given, format: "wuzapi" as "waha" },
      { ...given, format: "waha" as const, events: ["call.received" as const] },
      {
        ...given,
        format: "uazapi" as const,
        events: ["message.received" as const, "message.failed" as const],
      },
      { ...given, format: "evolution" as const, events: ["webhook.*" as const] },
      { ...given, format: "evolution" as const, format_token: "zwei Worte" },
      { ...given, headers: { "X-Webhook-Hmac": "1" } },
    ];
    for (const input of refused) {
      await expect(client.createWebhook(input)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    }
    const webhook = await story.addWebhook({ events: ["message.failed"] });
    const change = client.updateWebhook({ id, webhookId: webhook.id, format: "uazapi" });
    await expect(change).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await client.updateWebhook({ id, webhookId: webhook.id, format: "waha", events: ["message.*"] });
  });
});

const { addWebhook, logs } = story;

const say = (text: string, from = "5511977770001") =>
  story.shop.client.sandboxReceive({ id: story.shop.id, from, text });
const received = async () =>
  (await story.shop.client.listEvents({ id: story.shop.id, event: "message.received" })).data;

describe("a webhook", () => {
  test("is created with its own secret", async () => {
    const webhook = await addWebhook({ events: [] });
    expect(webhook).toMatchObject({
      name: "Mine",
      url: story.receiver.url,
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
  });

  test("receives each event signed over its raw bytes, with all its headers", async () => {
    await addWebhook();
    await say("Hello");
    const [item] = await story.receiver.waitFor(textIs("Hello"));
    expect(story.receiver.forged).toEqual([]);
    expect(item?.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "user-agent": expect.stringMatching(/^Waygate-Webhooks\/\d/),
      "x-waygate-event": "message.received",
      "x-waygate-event-id": item?.body.event_id,
      "x-waygate-attempt": "1",
      "x-waygate-instance": `inst_${story.shop.id}`,
      "x-waygate-delivery": expect.stringMatching(/^dlv_/),
      "x-waygate-timestamp": expect.stringMatching(/^\d{10}$/),
      "webhook-id": item?.body.event_id,
    });
  });
});

describe("a failing delivery", () => {
  test("is retried at the steps of the schedule, with the same bytes, until it succeeds", async () => {
    await addWebhook();
    story.receiver.respond(503);
    await say("Persist");
    await story.receiver.waitFor(textIs("Persist"), 1);
    await waitUntil(async () => (await logs()).length === 1);
    await story.gateway.advance(36_001);
    await story.receiver.waitFor(textIs("Persist"), 2);
    story.receiver.respond(200);
    await waitUntil(async () => (await logs()).length === 2);
    await story.gateway.advance(216_001);
    const tries = await story.receiver.waitFor(textIs("Persist"), 3);
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

  test("to a redirecting receiver does not follow the redirect", async () => {
    const elsewhere = await story.startReceiver();
    await addWebhook();
    story.receiver.respond((_, response) => {
      response.writeHead(302, { location: elsewhere.url }).end();
    });
    await say("Follow me");
    await waitUntil(async () => (await logs()).length === 1);
    expect((await logs())[0]).toMatchObject({ status_code: 302, success: false });
    expect(elsewhere.received).toEqual([]);
  });
});

test("a delivery has exactly the headers that the API describes, those of a previous secret too", async () => {
  const { id, client } = story.shop;
  const { id: webhookId } = await addWebhook();
  const rotated = await client.updateWebhook({ id, webhookId, rotate_secret: true });
  story.receiver.trust(rotated.data.secret);
  await client.testWebhook({ id, webhookId });
  const [delivery] = story.receiver.received;
  const own = Object.keys(delivery?.headers ?? {}).filter((name) => /^(x-|webhook-)/.test(name));
  const described = DELIVERY_HEADERS.map(({ name }) => name).filter((name) => name !== "traceparent");
  expect(own.toSorted()).toEqual(described.toSorted());
});

test("an event is returned with its payload on request, by number or by event_id", async () => {
  const { id, event_id } = await story.receive("Detail");
  const get = (eventId: string) => story.shop.client.getEvent({ id: story.shop.id, eventId });
  const [byId, byEventId] = [await get(String(id)), await get(event_id)];
  expect(byId.data).toEqual(byEventId.data);
  expect(byId.data.payload).toMatchObject({
    event: "message.received",
    data: { message: { text: "Detail" } },
  });
  await expect(get("evt_nonsense")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

describe("the default webhook", () => {
  const change = async (input: object) =>
    (await story.shop.client.updateDefaultWebhook({ id: story.shop.id, ...input } as never)).data;

  test("signs with the instance's own secret, and a new secret changes both", async () => {
    expect((await change({ url: story.receiver.url })).is_default).toBe(true);
    story.receiver.trust(story.shop.webhook_secret);
    await say("Default");
    await story.receiver.waitFor(textIs("Default"));
    expect(story.receiver.forged).toEqual([]);
    const secret = "a-new-secret-that-is-long";
    await change({ secret });
    await say("Rotated");
    const [rotated] = await story.receiver.waitFor(textIs("Rotated"));
    expect(rotated && isSigned(rotated, secret)).toBe(true);
  });

  test("accepts events inside `webhook`", async () => {
    const webhook = { events: ["message.received"] };
    expect((await change({ url: story.receiver.url, webhook })).events).toEqual(["message.received"]);
  });

  test("cannot be changed before it has an address", async () => {
    await expect(change({ is_active: false })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test("can be disabled and enabled again", async () => {
    await change({ url: story.receiver.url, events: ["message.received"] });
    await change({ enabled: false });
    await say("Off");
    await waitUntil(async () => (await received()).length === 1);
    await change({ enabled: true });
    await say("On");
    await story.receiver.waitFor(textIs("On"));
    expect(story.receiver.received.filter(textIs("Off"))).toEqual([]);
  });
});

describe("a test delivery", () => {
  test("reaches the webhook regardless of its filter and returns the result", async () => {
    const webhook = await addWebhook({ events: ["message.read"], is_active: false });
    const { data } = await story.shop.client.testWebhook({ id: story.shop.id, webhookId: webhook.id });
    expect(data).toMatchObject({ success: true, status_code: 200, event_id: expect.stringMatching(/^evt_/) });
    const [item] = await story.receiver.waitFor(({ body }) => body.data?.test === true);
    expect(item?.body).toMatchObject({ event: "webhook.sent", event_id: data.event_id });
    expect(story.receiver.forged).toEqual([]);
    expect((await logs())[0]).toMatchObject({ id: data.log_id, trigger: "test", success: true });
  });

  test("that the receiver rejects returns status, code and message, with the result as details", async () => {
    await story.shop.client.updateDefaultWebhook({ id: story.shop.id, url: story.receiver.url });
    story.receiver.respond(418);
    await expect(story.shop.client.testDefaultWebhook({ id: story.shop.id })).rejects.toMatchObject({
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
    await story.receiver.shut();
    const webhook = await addWebhook();
    const tested = story.shop.client.testWebhook({ id: story.shop.id, webhookId: webhook.id });
    await expect(tested).rejects.toMatchObject({
      code: "SEND_FAILED",
      message:
        "The test event was not delivered. The connection was refused. (ECONNREFUSED) Start the receiver, and check the host and port of the webhook's url.",
      details: { success: false, status_code: null, log_id: expect.any(Number) },
    });
  });

  test("has a limit per minute", async () => {
    const webhook = await addWebhook();
    const ask = () => story.shop.client.testWebhook({ id: story.shop.id, webhookId: webhook.id });
    for (let n = 0; n < 10; n++) await ask();
    await expect(ask()).rejects.toMatchObject({ code: "RATE_LIMITED", status: 429 });
  });
});

describe("the gateway's own receiver", () => {
  test("gets signed webhooks through the usual delivery, and shows headers and the exact body", async () => {
    const { gateway, shop } = story;
    const { id } = shop;
    const { data: opened } = await gateway.owner.openReceiver({ id });
    expect(opened).toMatchObject({ secret: expect.stringMatching(/^whsec_.{40,}$/), received: [] });
    await gateway.owner.sandboxReceive({ id, from: "5511977770001", text: "Olá" });
    const read = async () => (await gateway.owner.getReceiver({ id })).data.received;
    await waitUntil(async () => (await read()).some(({ event }) => event === "message.received"));
    const got = (await read()).find(({ event }) => event === "message.received");
    const { headers = {}, body, ...rest } = got ?? {};
    const hmac = createHmac("sha256", opened.secret)
      .update(body ?? "")
      .digest("hex");
    expect(headers["x-waygate-signature"]).toBe(`sha256=${hmac}`);
    expect(headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-waygate-event": "message.received",
      "x-waygate-attempt": "1",
      "webhook-signature": expect.stringMatching(/^v1,/),
    });
    expect(JSON.parse(body ?? "{}").data.message.text).toBe("Olá");
    expect(rest).toMatchObject({ attempt: 1, event_id: headers["webhook-id"] });
    const { data: logs } = await gateway.owner.listDeliveryLogs({ id, webhook_id: opened.webhook_id });
    expect(logs).toMatchObject([{ success: true, status_code: 200, attempt: 1 }]);
  });

  test("is opened once, is a webhook like others, and ends when that is removed", async () => {
    const { gateway, shop } = story;
    const { id } = shop;
    await expect(gateway.owner.getReceiver({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { data: one } = await gateway.owner.openReceiver({ id });
    const { data: other } = await gateway.owner.openReceiver({ id });
    expect(other.webhook_id).toBe(one.webhook_id);
    const { data: webhooks } = await gateway.owner.listWebhooks({ id });
    expect(webhooks).toMatchObject([{ id: one.webhook_id, name: "Gateway receiver" }]);
    expect(webhooks[0]?.secret).not.toBe(one.secret);
    await gateway.owner.deleteWebhook({ id, webhookId: one.webhook_id });
    await expect(gateway.owner.getReceiver({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
