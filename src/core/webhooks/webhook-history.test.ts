import { sql } from "kysely";
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
    for (const eventId of [String(id), event_id, "evt_01JD0000000000000000000000", "0", "x"])
      await expect(other.client.retryEvent({ id: other.id, eventId })).rejects.toMatchObject(missing);
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
    const logId = log?.id ?? 0;
    await expect(story.shop.client.retryDeliveryLog({ logId })).rejects.toMatchObject({ status: 409 });
    const stranger = await story.gateway.createInstance();
    await expect(stranger.client.retryDeliveryLog({ logId })).rejects.toMatchObject({ code: "NOT_FOUND" });
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

const addAttempts = (webhookId: number, ageMs: number, durations: number[], status: number) =>
  sql`insert into attempt (event_id, event_at, event, webhook_id, webhook_name, account_id, instance_id, url,
      attempt, trigger, success, status_code, duration_ms, created_at)
    select 'evt_x', now(), 'message.received', ${webhookId}, 'w', 1, ${story.shop.id}, 'http://x', 1, 'auto',
      ${status < 300}, ${status}, d, now() - ${ageMs} * interval '1 millisecond'
    from unnest(${durations}::int[]) d`.execute(story.gateway.database.db);

test("the figures of the webhooks count successes and failures by the hour, with their durations", async () => {
  const { shop } = story;
  const mine = await addWebhook();
  const other = await addWebhook({ name: "Other", is_active: false });
  await addAttempts(mine.id, 3_600_000, [10, 20, 30], 200);
  await addAttempts(mine.id, 3_600_000, [1_000], 500);
  await addAttempts(other.id, 7_200_000, [5], 200);
  const { data } = await shop.client.getWebhookFigures({ id: shop.id });
  expect(data).toMatchObject({ step_seconds: 3_600, is_cut: false, total: { succeeded: 4, failed: 1 } });
  expect(data.steps).toHaveLength(24);
  expect(data.steps.at(-2)).toMatchObject({ succeeded: 3, failed: 1, median_ms: 25, p95_ms: 854 });
  expect(data.steps.at(-1)).toMatchObject({ succeeded: 0, failed: 0, median_ms: null, p95_ms: null });
  const { data: one } = await shop.client.getWebhookFigures({
    id: shop.id,
    webhook_id: other.id,
    period: "week",
  });
  expect(one.steps).toHaveLength(28);
  expect(one.total).toEqual({ succeeded: 1, failed: 0, median_ms: 5, p95_ms: 5 });
});

test("the figures of an instance with more attempts than the limit begin later, and say so", async () => {
  const { shop } = story;
  const webhook = await addWebhook();
  await addAttempts(webhook.id, 10 * 3_600_000, [7], 200);
  await addAttempts(webhook.id, 3_600_000, new Array<number>(50_000).fill(9), 200);
  const { data } = await shop.client.getWebhookFigures({ id: shop.id });
  expect(data).toMatchObject({ is_cut: true, total: { succeeded: 50_000 } });
  expect(data.steps).toHaveLength(2);
});

test("attempts are found by their status and time, and each can be read alone", async () => {
  const { shop, receiver } = story;
  const webhook = await addWebhook();
  receiver.respond(503);
  const { event_id } = await receive("Hello");
  await delivery(event_id, webhook.id, ({ attempts }) => attempts === 1);
  const [log] = await logs({ status_code: 503 });
  expect(log).toMatchObject({ event_id, success: false, status_code: 503 });
  expect(await logs({ status_code: 500 })).toEqual([]);
  const at = log?.created_at ?? "";
  expect(await logs({ from: at })).toHaveLength(1);
  expect(await logs({ to: at })).toEqual([]);
  const { data } = await shop.client.getDeliveryLog({ id: shop.id, logId: log?.id ?? 0 });
  expect(data).toEqual(log);
  const stranger = await story.gateway.connectInstance();
  await expect(
    stranger.client.getDeliveryLog({ id: stranger.id, logId: log?.id ?? 0 }),
  ).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("events are found by the state of their delivery and their time", async () => {
  const { shop, receiver } = story;
  const webhook = await addWebhook({ retry_enabled: false });
  const good = await receive("Good");
  await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
  receiver.respond(500);
  const bad = await receive("Bad");
  await delivery(bad.event_id, webhook.id, ({ status }) => status === "failed");
  const find = async (filter: Partial<Parameters<typeof shop.client.listEvents>[0]>) =>
    (await shop.client.listEvents({ id: shop.id, ...filter })).data.map(({ event_id }) => event_id);
  expect(await find({ status: "failed" })).toEqual([bad.event_id]);
  expect(await find({ status: "delivered", webhook_id: webhook.id })).toEqual([good.event_id]);
  expect(await find({ status: "delivered", webhook_id: webhook.id + 1_000 })).toEqual([]);
  expect(await find({ event: "message.received", from: bad.created_at })).toEqual([bad.event_id]);
  expect(await find({ event: "message.received", to: bad.created_at })).toEqual([good.event_id]);
});

test("a dry run of a recovery returns the number of events, and sends none of them", async () => {
  const { shop, receiver } = story;
  const webhook = await addWebhook({ retry_enabled: false });
  receiver.respond(500);
  const { event_id } = await receive("Lost");
  await delivery(event_id, webhook.id, ({ status }) => status === "failed");
  const recover = (dry_run: boolean, since = "2020-01-01T00:00:00Z") =>
    shop.client.recoverWebhook({ id: shop.id, webhookId: webhook.id, since, dry_run });
  expect((await recover(true)).data).toEqual({ queued: 1 });
  expect((await recover(true, new Date(Date.now() + 60_000).toISOString())).data).toEqual({ queued: 0 });
  expect(await delivery(event_id, webhook.id)).toMatchObject({ status: "failed" });
  receiver.respond(200);
  expect((await recover(false)).data).toEqual({ queued: 1 });
  await delivery(event_id, webhook.id, ({ status }) => status === "delivered");
});

test("a webhook shows since when it fails, and how long its previous secret is valid", async () => {
  const { shop, receiver } = story;
  const webhook = await addWebhook();
  expect(webhook).toMatchObject({ failing_since: null, previous_secret_until: null });
  receiver.respond(500);
  await receive("Hello");
  const read = async () => (await shop.client.listWebhooks({ id: shop.id })).data[0];
  await waitUntil(async () => (await read())?.failing_since);
  const change = { id: shop.id, webhookId: webhook.id, rotate_secret: true, overlap_seconds: 3_600 };
  const { data } = await shop.client.updateWebhook(change);
  const until = Date.parse(data.previous_secret_until ?? "");
  expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(60_000);
});

test("a webhook and its alert say why deliveries fail without a response, until one succeeds", async () => {
  const { shop, receiver, gateway } = story;
  const webhook = await addWebhook({ url: receiver.url });
  expect(webhook).toMatchObject({ last_error_class: null });
  const read = async () => (await shop.client.listWebhooks({ id: shop.id })).data[0];
  const alerts = async () =>
    (await gateway.owner.accountOverview()).data.alerts.filter(({ webhook_id }) => webhook_id === webhook.id);
  await receiver.shut();
  await receive("Refused");
  await waitUntil(async () => (await read())?.last_error_class === "refused");
  expect(await read()).toMatchObject({ last_status: null, failing_since: expect.any(String) });
  expect(await alerts()).toMatchObject([
    {
      key: "webhook_failing",
      status: "unreachable",
      error_class: "refused",
      message: expect.stringMatching(/no response comes from its receiver \(refused\)\.$/),
    },
  ]);
  await receiver.open();
  receiver.respond(500);
  await gateway.advance(60_000);
  await waitUntil(async () => (await read())?.last_error_class === "status");
  receiver.respond(200);
  await gateway.advance(300_000);
  await waitUntil(async () => (await read())?.failing_since === null);
  expect(await read()).toMatchObject({ last_status: 200, last_error_class: null });
});
