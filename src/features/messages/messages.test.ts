import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/receiver.ts";

let gateway: TestGateway;
let receiver: Receiver;
let sales: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  receiver = await startReceiver();
  sales = await gateway.connectInstance({ webhook_url: receiver.url });
  receiver.trust(sales.webhook_secret);
});

afterAll(async () => {
  expect(receiver.forged).toEqual([]);
  await receiver.close();
  await gateway.stop();
});

const idOf = ({ data }: { data: { message_id?: string } }) => data.message_id ?? "";
const friend = "5511988881111";
const to = (last4: string) => `551198888${last4}`;
const eventsOf = (messageId: string) =>
  receiver.received
    .filter((item) => item.body.data?.message?.message_id === messageId)
    .map((item) => item.body.event);
const outcomeOf = (messageId: string) =>
  receiver.waitFor(
    ({ body }) => /message\.(sent|failed)/.test(body.event) && body.data.message.message_id === messageId,
  );

describe("a sync send", () => {
  test("returns after the network's acknowledgement and fires a webhook event", async () => {
    const response = await sales.client.sendText({ id: sales.id, number: to("1234"), text: "Hello" });
    expect(response).toMatchObject({
      success: true,
      message: "Message sent",
      data: { status: expect.stringMatching(/sent|delivered|read/), jid: `${to("1234")}@s.whatsapp.net` },
    });
    expect(response.data.providerMessageId).toBe(response.data.message_id);
    const [sent] = await outcomeOf(idOf(response));
    expect(sent?.body).toMatchObject({
      event: "message.sent",
      version: "2",
      source: "Waygate",
      tenant_id: expect.stringMatching(/^tenant_\d+$/),
      instance_id: `inst_${sales.id}`,
      instance: { id: sales.id, name: "Sales", phone: sales.phone },
      data: {
        message: { id: response.data.id, text: "Hello", direction: "outbound", from_me: true, origin: "api" },
        conversation: { jid: `${to("1234")}@s.whatsapp.net`, type: "contact" },
      },
    });
  });

  test("is followed by events about the recipient's actions", async () => {
    const { data } = await sales.client.sendText({ id: sales.id, number: to("1235"), text: "Read me" });
    const [read] = await receiver.waitFor(
      ({ body }) => body.event === "message.read" && body.data.message_ids.includes(data.message_id),
    );
    expect(read?.body.data).toMatchObject({ jid: data.jid, direction: "outbound" });
    const { data: message } = await sales.client.getMessage({
      id: sales.id,
      messageId: data.message_id ?? "",
    });
    expect(message.status).toBe("read");
  });

  test.each([
    ["to a number that is not on the network", "0000", "RECIPIENT_NOT_FOUND", 404],
    ["that the network permanently rejects", "0001", "SEND_FAILED", 502],
  ])("%s is rejected", async (_, last4, code, status) => {
    const sending = sales.client.sendText({ id: sales.id, number: to(last4), text: "Hi" });
    await expect(sending).rejects.toMatchObject({ code, status });
  });
});

describe("an async send", () => {
  test.each([{ async: true }, { async_send: true }, { send_async: true }, { mode: "async" as const }])(
    "requested by %j is queued at once, and its outcome arrives as message.sent",
    async (flag) => {
      const response = await sales.client.sendText({ id: sales.id, number: friend, text: "Later", ...flag });
      expect(response).toMatchObject({ success: true, message: "Message queued", queued: true });
      const { jobId, pendingMessageId } = response as unknown as { jobId: string; pendingMessageId: string };
      expect(response.data).toMatchObject({
        queued: true,
        jobId,
        pendingMessageId,
        message: { status: "pending" },
      });
      const [sent] = await outcomeOf(pendingMessageId);
      expect(sent?.body).toMatchObject({ event: "message.sent", data: { jobId, pendingMessageId } });
    },
  );

  test("that fails permanently ends in one message.failed with the reason", async () => {
    const response = await sales.client.sendText({
      id: sales.id,
      number: to("0000"),
      text: "Hi",
      async: true,
    });
    const { pendingMessageId } = response as unknown as { pendingMessageId: string };
    const [failed] = await outcomeOf(pendingMessageId);
    expect(failed?.body).toMatchObject({
      event: "message.failed",
      data: { error: { code: "RECIPIENT_NOT_FOUND", retryable: false }, message: { status: "failed" } },
    });
    expect(eventsOf(pendingMessageId)).toEqual(["message.failed"]);
  });

  test("keeps the order of its chat, also before a later sync send", async () => {
    const number = to("7777");
    const texts = Array.from({ length: 12 }, (_, n) => `n${n}`);
    for (const text of texts)
      await sales.client.sendText({ id: sales.id, number, text, async: text !== "n11" });
    const sent = await receiver.waitFor(
      ({ body }) => body.event === "message.sent" && body.data.message.jid.startsWith(number),
      texts.length,
    );
    expect(sent.map((item) => item.body.data.message.text)).toEqual(texts);
  });
});

test.each(["sync", "async"] as const)(
  "a send (%s) of an instance that was never paired is rejected at once with its status and leaves nothing behind",
  async (mode) => {
    const { id, client } = await gateway.createInstance();
    await expect(client.sendText({ id, number: friend, text: "Hi", mode })).rejects.toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
      status: 409,
      details: { status: "created" },
    });
    const stored = gateway.database.db.selectFrom("message").select("id").where("instance_id", "=", id);
    expect(await stored.execute()).toEqual([]);
  },
);

describe("an instance that loses its connection", () => {
  test("delays async sends until it is connected again", async () => {
    const shop = await gateway.connectInstance({ webhook_url: receiver.url });
    receiver.trust(shop.webhook_secret);
    await shop.client.sandboxDrop({ id: shop.id });
    const response = await shop.client.sendText({ id: shop.id, number: friend, text: "Held", async: true });
    const { pendingMessageId } = response as unknown as { pendingMessageId: string };
    const [sent] = await outcomeOf(pendingMessageId);
    expect(sent?.body.event).toBe("message.sent");
  });

  test("fails the sends that waited longer than the hold time", async () => {
    const shop = await gateway.connectInstance({ webhook_url: receiver.url });
    receiver.trust(shop.webhook_secret);
    await gateway.database.db
      .updateTable("instance")
      .set({ status: "disconnected" })
      .where("id", "=", shop.id)
      .execute();
    const lane = await gateway.database.db
      .selectFrom("instance")
      .select("lane")
      .where("id", "=", shop.id)
      .executeTakeFirstOrThrow();
    gateway.gateway.engine.limitToGroups(lane.lane, ["control"]);
    const response = await shop.client.sendText({
      id: shop.id,
      number: friend,
      text: "Too late",
      async: true,
    });
    const { pendingMessageId } = response as unknown as { pendingMessageId: string };
    await gateway.advance(15 * 60_000 + 1000);
    const [failed] = await outcomeOf(pendingMessageId);
    expect(failed?.body).toMatchObject({
      event: "message.failed",
      data: { error: { code: "INSTANCE_NOT_CONNECTED" } },
    });
  });
});

test("an echoing sandbox number completes a conversation", async () => {
  await sales.client.sendText({ id: sales.id, number: to("0004"), text: "ping" });
  const [echo] = await receiver.waitFor(
    ({ body }) => body.event === "message.received" && body.data.message.text === "echo: ping",
  );
  expect(echo?.body.data.message.phone).toBe(to("0004"));
});

test("two instances exchange messages", async () => {
  const other = await gateway.connectInstance({ webhook_url: receiver.url });
  receiver.trust(other.webhook_secret);
  await sales.client.sendText({ id: sales.id, number: other.phone, text: "From one to the other" });
  const [received] = await receiver.waitFor(
    ({ body }) => body.event === "message.received" && body.instance.id === other.id,
  );
  expect(received?.body.data.message).toMatchObject({ text: "From one to the other", phone: sales.phone });
});

test("a text with U+0000 or lone surrogates is cleaned instead of rejected", async () => {
  const { id, client } = sales;
  const { data } = await client.sendText({ id, number: friend, text: "a\u0000b\ud800c" });
  const stored = await client.getMessage({ id, messageId: data.message_id ?? "" });
  expect(stored.data.text).toBe("ab\ufffdc");
});

test("without the queue an async send is rejected and leaves no row, and a sync send works", async () => {
  const quiet = await startTestGateway({ WAYGATE_QUEUE: "off" });
  try {
    const shop = await quiet.connectInstance();
    await expect(
      shop.client.sendText({ id: shop.id, number: friend, text: "Hi", async: true }),
    ).rejects.toMatchObject({ code: "QUEUE_UNAVAILABLE", status: 503 });
    expect(await quiet.database.db.selectFrom("message").select("id").execute()).toEqual([]);
    expect((await shop.client.sendText({ id: shop.id, number: friend, text: "Hi" })).success).toBe(true);
  } finally {
    await quiet.stop();
  }
});

test("a send accepted before a stop is sent after the next start", async () => {
  const number = to("5555");
  await sales.client.sendText({ id: sales.id, number, text: "before", async: true });
  await gateway.restart();
  await waitUntil(() =>
    receiver.received.some(
      ({ body }) => body.data?.message?.text === "before" && body.event === "message.sent",
    ),
  );
});
