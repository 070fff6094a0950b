import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestInstance } from "../../../test/gateway.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import type { Engine } from "../../engine/engine.ts";
import { requireQueue } from "./send/prepare-send.ts";

/** Both formats of a Brazilian number. The sandbox knows only the one without the ninth digit. */
const LONG = "5511987650007";
const SHORT = "551187650007";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

async function receive(from: string): Promise<string> {
  const { client, id } = story.sales;
  const { data } = await client.sandboxReceive({ id, from, text: "Helo", push_name: "Ana" });
  await story.event("message.received", data.message_id);
  return data.message_id;
}

async function readMessage(messageId: string) {
  return (await story.sales.client.getMessage({ id: story.sales.id, messageId })).data;
}

const chatsOf = async (digits: string) => {
  const { data } = await story.sales.client.listChats({ id: story.sales.id, q: digits });
  return data;
};

describe("a message stored under one format of its number", () => {
  test("can be edited, reacted to and deleted under the other format", async () => {
    const { client, id } = story.sales;
    const message_id = await receive(SHORT);
    await client.sandboxEdit({ id, from: LONG, message_id, text: "Hello" });
    const edited = await story.event("message.edited", message_id);
    expect(edited.data).toMatchObject({ jid: jidOf(SHORT), message: { text: "Hello" } });
    await client.sandboxReact({ id, from: LONG, message_id, reaction: "👍" });
    const reaction = await story.event("message.reaction", message_id);
    expect(reaction.data).toMatchObject({ jid: jidOf(SHORT), message: { message_id } });
    await client.sandboxDelete({ id, from: LONG, message_id });
    await story.event("message.deleted", message_id);
    expect(await readMessage(message_id)).toMatchObject({
      text: "Hello",
      edited_at: expect.any(String),
      deleted_at: expect.any(String),
    });
  });

  test("is marked as read by the paired phone's receipt under the other format", async () => {
    const { client, id } = story.sales;
    const message_id = await receive(SHORT);
    await client.sandboxRead({ id, from: LONG, message_ids: [message_id], from_me: true });
    const { data } = await story.event("message.read", message_id);
    expect(data).toMatchObject({ jid: jidOf(SHORT), direction: "inbound" });
  });

  test("is listed, and its chat is pinned, if a request names the other format", async () => {
    const { client, id } = story.sales;
    const stored = "5521987650007";
    const named = "552187650007";
    const message_id = await receive(stored);
    const { data } = await client.listChatMessages({ id, jid: jidOf(named) });
    expect(data).toMatchObject([{ message_id }]);
    const pinned = await client.setChatState({ id, number: named, action: "pin" });
    expect(pinned.data).toMatchObject({ phone: stored, pinned: true });
    expect(await chatsOf(stored)).toHaveLength(1);
  });

  test("keeps its one chat if the phone changes the chat under the other format", async () => {
    const { client, id } = story.sales;
    const stored = "553187650007";
    await receive(stored);
    await client.sandboxChat({ id, from: "5531987650007", archived: true });
    await waitUntil(async () => (await chatsOf(stored)).some(({ archived }) => archived));
    expect(await chatsOf(stored)).toMatchObject([{ phone: stored, archived: true }]);
  });
});

test("an edit that is the first to link LID and phone changes the message stored under the LID", async () => {
  const { client, id } = story.sales;
  const hidden = "5511977775555";
  await client.sandboxContact({ id, from: hidden, known: "lid" });
  const message_id = await receive(hidden);
  expect((await readMessage(message_id)).jid).toMatch(/@lid$/);
  // The control route would also notify the instance.
  await sql`update sandbox.address_book set known = 'both' where phone = ${hidden}`.execute(
    story.gateway.database.db,
  );
  await client.sandboxEdit({ id, from: hidden, message_id, text: "Hello" });
  const { data } = await story.event("message.edited", message_id);
  expect(data.message).toMatchObject({ text: "Hello", jid: jidOf(hidden) });
  expect(await chatsOf(hidden)).toMatchObject([{ phone: hidden }]);
});

const FRIEND = "5511988881111";
const to = (last4: string) => `551198888${last4}`;

/** Queues a send. Returns the message id. */
async function queue(number: string, text: string, { id, client }: TestInstance = story.sales) {
  return (await client.sendText({ id, number, text, async: true })).pendingMessageId ?? "";
}

const ends = (messageId: string) =>
  story.receiver.waitFor(
    ({ body }) => /message\.(sent|failed)/.test(body.event) && body.data.message.message_id === messageId,
  );

describe("a sync send", () => {
  test.each([
    ["to a number that is not on the network", "0000", "RECIPIENT_NOT_FOUND", 404],
    ["that the network permanently rejects", "0001", "SEND_FAILED", 502],
  ])("%s is rejected", async (_, last4, code, status) => {
    const { id, client } = story.sales;
    const sending = client.sendText({ id, number: to(last4), text: "Hi" });
    await expect(sending).rejects.toMatchObject({ code, status });
  });
});

describe("an async send", () => {
  test.each([{ async: true }, { async_send: true }, { send_async: true }, { mode: "async" }])(
    "requested by %j is queued at once, and its outcome arrives as message.sent",
    async (flag) => {
      const body = { number: FRIEND, text: "Later", ...flag };
      const route = `POST /api/v1/instances/${story.sales.id}/send-text`;
      const { body: response } = await story.request(route, body);
      const { jobId, pendingMessageId } = response;
      const message = { status: "pending" };
      expect(response).toMatchObject({
        success: true,
        message: "Message queued",
        queued: true,
        data: { queued: true, jobId, pendingMessageId, message },
      });
      expect(await story.outcome(pendingMessageId)).toMatchObject({
        event: "message.sent",
        data: { jobId, pendingMessageId },
      });
    },
  );

  test("that fails permanently ends in one message.failed with the reason", async () => {
    const messageId = await queue(to("0000"), "Hi");
    expect(await story.outcome(messageId)).toMatchObject({
      event: "message.failed",
      data: { error: { code: "RECIPIENT_NOT_FOUND", retryable: false }, message: { status: "failed" } },
    });
    const reported = story.receiver.received.filter(
      ({ body }) => body.data?.message?.message_id === messageId,
    );
    expect(reported).toHaveLength(1);
  });

  test("keeps the order of its chat, also before a later sync send", async () => {
    const number = to("7777");
    const texts = Array.from({ length: 12 }, (_, n) => `n${n}`);
    const { id, client } = story.sales;
    for (const text of texts) await client.sendText({ id, number, text, async: text !== "n11" });
    const sent = await story.receiver.waitFor(
      ({ body }) => body.event === "message.sent" && body.data.message.jid.startsWith(number),
      texts.length,
    );
    expect(sent.map(({ body }) => body.data.message.text)).toEqual(texts);
  });
});

test.each(["sync", "async"] as const)(
  "a send (%s) of an instance that was never paired is rejected at once with its status and leaves nothing behind",
  async (mode) => {
    const { id, client } = await story.gateway.createInstance();
    const before = await story.rows();
    await expect(client.sendText({ id, number: FRIEND, text: "Hi", mode })).rejects.toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
      status: 409,
      details: { status: "created" },
    });
    expect((await story.rows()).messages).toBe(before.messages);
  },
);

describe("an instance that loses its connection", () => {
  test("delays async sends until it is connected again", async () => {
    const shop = await story.join();
    await shop.client.sandboxDrop({ id: shop.id });
    const [sent] = await ends(await queue(FRIEND, "Held", shop));
    expect(sent?.body.event).toBe("message.sent");
  });

  test("fails the sends that waited longer than the hold time", async () => {
    const shop = await story.join();
    const { database, gateway } = story.gateway;
    const { rows } = await database.pool.query(
      "update instance set status = 'disconnected' where id = $1 returning lane",
      [shop.id],
    );
    gateway.engine.limitToGroups(rows[0].lane, ["control"]);
    const messageId = await queue(FRIEND, "Too late", shop);
    await story.gateway.advance(15 * 60_000 + 1000);
    expect((await ends(messageId))[0]?.body).toMatchObject({
      event: "message.failed",
      data: { error: { code: "INSTANCE_NOT_CONNECTED" } },
    });
  });
});

test("an echoing sandbox number completes a conversation", async () => {
  await queue(to("0004"), "ping");
  const [echo] = await story.receiver.waitFor(
    ({ body }) => body.event === "message.received" && body.data.message.text === "echo: ping",
  );
  expect(echo?.body.data.message.phone).toBe(to("0004"));
});

test("a text with U+0000 or lone surrogates is cleaned instead of rejected", async () => {
  const { id, client } = story.sales;
  const messageId = await queue(FRIEND, "a\u0000b\ud800c");
  expect((await client.getMessage({ id, messageId })).data.text).toBe("ab\ufffdc");
});

test("without the queue an async send is rejected and leaves no row, and a sync send works", async () => {
  const quiet = await startMessagingStory({ WAYGATE_QUEUE: "off" });
  try {
    const { id, client } = quiet.sales;
    const text = { id, number: FRIEND, text: "Hi" };
    await expect(client.sendText({ ...text, async: true })).rejects.toMatchObject({
      code: "QUEUE_UNAVAILABLE",
      status: 503,
    });
    expect((await quiet.rows()).messages).toBe(0);
    expect((await client.sendText(text)).success).toBe(true);
  } finally {
    await quiet.stop();
  }
});

test.each([
  ["worker", "No node that holds sessions is running, so nothing was queued."],
  ["sessions", "No message worker is running."],
])(
  "an async send while only nodes of the role %s run is refused with the missing one",
  async (role, message) => {
    const engine = { hasLiveNode: async (asked: string) => asked === role } as unknown as Engine;
    await expect(requireQueue({ queue: "postgres", engine })).rejects.toMatchObject({
      code: "QUEUE_UNAVAILABLE",
      message,
    });
  },
);
