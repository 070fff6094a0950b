import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";

const story = setUpWebhookStory();
const { addWebhook, receive, logs, delivery } = story;
const BIA = "5511977771011";

const resend = (eventId: string) => story.shop.client.retryEvent({ id: story.shop.id, eventId });

describe("an event that is sent again", () => {
  test("to a newer webhook gets one delivery, however many requests ask for it at once", async () => {
    const { event_id } = await receive("Earlier", BIA);
    const webhook = await addWebhook();
    await Promise.all(Array.from({ length: 5 }, () => resend(event_id)));
    await waitUntil(() => story.receiver.received.filter(textIs("Earlier")).length === 5);
    await waitUntil(async () => (await logs()).length === 5);
    const { data } = await story.shop.client.getEvent({ id: story.shop.id, eventId: event_id });
    expect(data.deliveries).toEqual([
      expect.objectContaining({ webhook_id: webhook.id, status: "delivered" }),
    ]);
    expect(story.receiver.forged).toEqual([]);
  });

  test("to a newer webhook that rejects it is failed at once and not retried", async () => {
    const { event_id } = await receive("Earlier", BIA);
    const webhook = await addWebhook();
    story.receiver.respond(500);
    await resend(event_id);
    const failed = await delivery(event_id, webhook.id, ({ status }) => status !== "pending");
    expect(failed).toMatchObject({ status: "failed", next_retry_at: null, response_status: 500 });
  });

  test("goes to all matching webhooks, the instance's and the global one, and to no other", async () => {
    const own = await addWebhook();
    await addWebhook({ events: ["message.sent"] });
    await addWebhook({ is_active: false });
    const central = await story.startReceiver();
    await story.gateway.admin.putGlobalWebhook({ url: central.url, events: ["message.received"] });
    const { event_id } = await receive("To all", BIA);
    await central.waitFor(textIs("To all"));
    const { data } = await resend(event_id);
    expect(data.webhook_ids).toHaveLength(2);
    expect(data.webhook_ids).toContain(own.id);
    await central.waitFor(textIs("To all"), 2);
    await story.receiver.waitFor(textIs("To all"), 2);
    await story.gateway.admin.putGlobalWebhook({ url: "" });
  });

  test("to one webhook by name reaches no other, and only if that one subscribes to it", async () => {
    const own = await addWebhook();
    const deaf = await addWebhook({ events: ["message.sent"] });
    const other = await story.startReceiver();
    await addWebhook({ url: other.url });
    const { event_id } = await receive("To one", BIA);
    await story.receiver.waitFor(textIs("To one"));
    await other.waitFor(textIs("To one"));
    const { id } = story.shop;
    const { data } = await story.shop.client.retryEvent({ id, eventId: event_id, webhook_id: own.id });
    expect(data.webhook_ids).toEqual([own.id]);
    await story.receiver.waitFor(textIs("To one"), 2);
    expect(other.received.filter(textIs("To one"))).toHaveLength(1);
    for (const webhook_id of [deaf.id, own.id + 1_000_000]) {
      await expect(story.shop.client.retryEvent({ id, eventId: event_id, webhook_id })).rejects.toMatchObject(
        { code: "CONFLICT", message: expect.stringContaining(String(webhook_id)) },
      );
    }
  });

  test("and is rejected remains delivered", async () => {
    const webhook = await addWebhook();
    const { event_id } = await receive("Once good", BIA);
    await delivery(event_id, webhook.id, ({ status }) => status === "delivered");
    story.receiver.respond(500);
    await resend(event_id);
    await waitUntil(async () => (await logs()).length === 2);
    expect(await delivery(event_id, webhook.id)).toMatchObject({
      status: "delivered",
      attempts: 1,
      next_retry_at: null,
      response_status: 200,
      error: null,
    });
  });

  test("is found by its number or event_id, in this instance only", async () => {
    await addWebhook();
    const { id, event_id } = await receive("Numbered", BIA);
    await resend(String(id));
    await story.receiver.waitFor(textIs("Numbered"), 2);
    const other = await story.gateway.createInstance();
    const missing = { code: "NOT_FOUND", status: 404 };
    for (const eventId of [
      String(id),
      event_id,
      "evt_01JD0000000000000000000000",
      "evt_nonsense",
      "0",
      "x",
    ]) {
      await expect(other.client.retryEvent({ id: other.id, eventId })).rejects.toMatchObject(missing);
    }
  });

  test("by a log row goes only to the webhook of that row, if it is enabled", async () => {
    const other = await story.startReceiver();
    await addWebhook({ url: other.url });
    const webhook = await addWebhook();
    await receive("By log", BIA);
    await waitUntil(async () => (await logs()).length === 2);
    const [log] = await logs({ webhook_id: webhook.id });
    const { data } = await story.shop.client.retryDeliveryLog({ logId: log?.id ?? 0 });
    expect(data.webhook_ids).toEqual([webhook.id]);
    await story.receiver.waitFor(textIs("By log"), 2);
    expect(other.received).toHaveLength(1);
    await story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, is_active: false });
    await expect(story.shop.client.retryDeliveryLog({ logId: log?.id ?? 0 })).rejects.toMatchObject({
      status: 409,
    });
  });

  test("is reported as failed without a next attempt if the manual attempt fails", async () => {
    const watcher = await story.startReceiver();
    await addWebhook({ url: watcher.url, events: ["webhook.*"] });
    await addWebhook();
    const { event_id } = await receive("Reported", BIA);
    await story.receiver.waitFor(textIs("Reported"));
    story.receiver.respond(500);
    await resend(event_id);
    const [report] = await watcher.waitFor(({ body }) => body.event === "webhook.failed");
    expect(report?.body.data).toMatchObject({ event_id, status_code: 500, next_retry_at: null });
  });
});
