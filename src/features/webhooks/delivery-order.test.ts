import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import type { Received } from "../../../test/servers/receiver.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";

const story = setUpWebhookStory();
const { addWebhook, receive, logs, delivery } = story;

const [BIA, RUI] = ["5511977771011", "5511977771012"];
const textOf = ({ body }: Received) => String(body.data.message.text);

/** Makes the receiver reject texts that start with "bad". */
function refuseBad(): void {
  story.receiver.respond((item, response) => {
    response.writeHead(textOf(item).startsWith("bad") ? 500 : 200).end();
  });
}

/** Lets the only failing event be retried `steps` times. */
async function passRetries(steps: number): Promise<void> {
  const failures = async () => (await logs({ success: "false" })).length;
  for (let step = 0; step < steps; step++) {
    const before = await failures();
    await story.gateway.advance(900_000);
    await waitUntil(async () => (await failures()) > before);
  }
}

describe("ordering `chat`", () => {
  test("lets an event wait for two failures of the previous one and go after the third", async () => {
    const webhook = await addWebhook();
    refuseBad();
    const bad = await receive("bad", BIA);
    await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
    const good = await receive("good", BIA);
    await receive("elsewhere", RUI);
    await story.receiver.waitFor(textIs("elsewhere"));
    await passRetries(1);
    expect(await delivery(good.event_id, webhook.id)).toMatchObject({ status: "pending", attempts: 0 });
    await passRetries(1);
    await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
    expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "parked", attempts: 3 });
  });

  test("sends the rest of the chat at once if a manual attempt of its first event succeeds", async () => {
    const webhook = await addWebhook();
    refuseBad();
    const bad = await receive("bad", BIA);
    await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
    const good = await receive("good", BIA);
    story.receiver.respond(200);
    await story.shop.client.retryEvent({ id: story.shop.id, eventId: bad.event_id });
    await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
    expect(await delivery(bad.event_id, webhook.id)).toMatchObject({
      status: "delivered",
      next_retry_at: null,
    });
    await story.gateway.advance(60_000);
    await receive("last", BIA);
    await story.receiver.waitFor(textIs("last"));
    expect(story.receiver.received.filter(textIs("bad"))).toHaveLength(2);
  });

  test("keeps its schedule if a manual attempt fails", async () => {
    const webhook = await addWebhook();
    refuseBad();
    const bad = await receive("bad", BIA);
    const before = await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
    await story.shop.client.retryEvent({ id: story.shop.id, eventId: bad.event_id });
    await waitUntil(async () => (await logs()).length === 2);
    expect((await logs()).map(({ trigger, attempt }) => [trigger, attempt])).toEqual([
      ["manual", 2],
      ["auto", 1],
    ]);
    expect(await delivery(bad.event_id, webhook.id)).toEqual(before);
    await passRetries(1);
    expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "retrying", attempts: 2 });
  });
});

test("ordering `strict` delays all events until the first one is delivered or has failed", async () => {
  const webhook = await addWebhook({ ordering: "strict", max_attempts: 5 });
  refuseBad();
  const bad = await receive("bad", BIA);
  await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
  const other = await receive("other chat", RUI);
  await passRetries(3);
  expect(await delivery(other.event_id, webhook.id)).toMatchObject({ status: "pending", attempts: 0 });
  await passRetries(1);
  await delivery(other.event_id, webhook.id, ({ status }) => status === "delivered");
  expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "failed", attempts: 5 });
});

test("ordering `none` sends every event independently", async () => {
  const webhook = await addWebhook({ ordering: "none" });
  refuseBad();
  const bad = await receive("bad", BIA);
  await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
  const good = await receive("good", BIA);
  await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
  await passRetries(2);
  expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "retrying", attempts: 3 });
});

describe("a filter", () => {
  const names = () => [...new Set(story.receiver.received.map((item) => item.body.event))].sort();

  /** Receives one message, sends one through the API and waits for their events. */
  async function liveALittle(): Promise<void> {
    const { client, id } = story.shop;
    const { data } = await client.sandboxReceive({ id, from: BIA, text: "In" });
    await client.sandboxReact({ id, from: BIA, message_id: data.message_id, reaction: "👍" });
    await client.sendText({ id, number: BIA, text: "Out" });
    await waitUntil(async () => {
      const { data: events } = await client.listEvents({ id, limit: 200 });
      return (
        events.some(({ event }) => event === "message.read") &&
        events.some(({ event }) => event === "message.reaction")
      );
    });
  }

  test("of `message.*` accepts every message event and no other", async () => {
    await addWebhook({ events: ["message.*"] });
    await liveALittle();
    await story.shop.client.sandboxDrop({ id: story.shop.id });
    await waitUntil(() => names().length === 4);
    expect(names()).toEqual(["message.reaction", "message.read", "message.received", "message.sent"]);
  });

  test("of `*` also accepts delivery reports, and no name beyond the 14 published ones", async () => {
    await addWebhook({ events: ["*"] });
    await liveALittle();
    await waitUntil(() => names().includes("webhook.sent"));
    expect(names()).not.toContain("message.delivered");
    const { data } = await story.shop.client.listEvents({ id: story.shop.id, limit: 200 });
    expect(data.map(({ event }) => event)).not.toContain("message.delivered");
  });

  test("that names an extra event exactly receives it, and other webhooks do not", async () => {
    const other = await story.startReceiver();
    await addWebhook({ events: ["message.delivered"] });
    await addWebhook({ url: other.url, events: ["*"] });
    await liveALittle();
    await waitUntil(() => names().includes("message.delivered"));
    expect(names()).toEqual(["message.delivered"]);
    expect(other.of("message.delivered")).toEqual([]);
  });

  test("omits the events named in `exclude`", async () => {
    const { client, id } = story.shop;
    const noOwn = await story.startReceiver();
    const noGroups = await story.startReceiver();
    const all = story.receiver;
    await addWebhook({ events: ["message.sent", "message.received"] });
    await addWebhook({ url: noOwn.url, events: ["message.sent", "message.received"], exclude: ["from_me"] });
    await addWebhook({ url: noGroups.url, events: ["message.*"], exclude: ["groups"] });
    const noApi = await story.startReceiver();
    await addWebhook({ url: noApi.url, events: ["message.sent"], exclude: ["sent_by_api"] });

    await client.sendText({ id, number: BIA, text: "By the API" });
    await client.sandboxReceive({ id, from: BIA, from_me: true, text: "By the phone" });
    await client.sandboxReceive({ id, from: BIA, group_jid: "120363000000000001", text: "In the group" });
    await client.sandboxReceive({ id, from: BIA, text: "By Bia" });

    for (const text of ["By the API", "By the phone", "In the group", "By Bia"])
      await all.waitFor(textIs(text));
    await noOwn.waitFor(textIs("By Bia"));
    await noOwn.waitFor(textIs("In the group"));
    await noGroups.waitFor(textIs("By Bia"));
    await noApi.waitFor(textIs("By the phone"));
    expect(noOwn.received.map(textOf).sort()).toEqual(["By Bia", "In the group"]);
    expect(noGroups.of("message.received").map(textOf)).toEqual(["By Bia"]);
    expect(noApi.received.map(textOf)).toEqual(["By the phone"]);
  });

  test("applies to a manual retry as well", async () => {
    await addWebhook({ exclude: ["groups"] });
    const { client, id } = story.shop;
    await client.sandboxReceive({ id, from: BIA, group_jid: "120363000000000001", text: "Group" });
    await waitUntil(
      async () => (await client.listEvents({ id, event: "message.received" })).data.length === 1,
    );
    const { data } = await client.listEvents({ id, event: "message.received" });
    await expect(client.retryEvent({ id, eventId: data[0]?.event_id ?? "" })).rejects.toMatchObject({
      status: 409,
    });
  });
});

test("an instance with disabled webhooks records its events and delivers none", async () => {
  await addWebhook();
  const { id } = story.shop;
  await story.gateway.owner.updateInstance({ id, webhook_enabled: false });
  const { deliveries } = await receive("Quiet");
  expect(deliveries).toEqual([]);
  await story.gateway.owner.updateInstance({ id, webhook_enabled: true });
  await receive("Loud");
  await story.receiver.waitFor(textIs("Loud"));
  expect(story.receiver.received.filter(textIs("Quiet"))).toEqual([]);
});
