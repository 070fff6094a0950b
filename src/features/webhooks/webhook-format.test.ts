import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { setUpWebhookStory } from "../../../test/stories/webhook-story.ts";

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
