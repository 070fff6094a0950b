import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/receiver.ts";
import type { WaygateError } from "../../client/client.ts";

let gateway: TestGateway;
let receiver: Receiver;
let sales: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway({
    WAYGATE_ACK_TIMEOUT: "5s",
    WAYGATE_DOUBT_WAIT: "60s",
    WAYGATE_SEND_HOLD: "15m",
  });
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

/** Whether the message's job is queued: before that, advancing the clock has no effect. */
async function isInDoubt(messageId: string): Promise<boolean> {
  const { rows } = await sql`
    select from job j join message m on (j.ref ->> 'message')::bigint = m.id
    where m.message_id = ${messageId} and j.run_at > now()`.execute(gateway.database.db);
  return rows.length > 0;
}

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

  test("to a number that is not on the network is rejected and fires no event", async () => {
    await expect(
      sales.client.sendText({ id: sales.id, number: to("0000"), text: "Hi" }),
    ).rejects.toMatchObject({
      code: "RECIPIENT_NOT_FOUND",
      status: 404,
    });
  });

  test("that the network permanently rejects returns SEND_FAILED", async () => {
    await expect(
      sales.client.sendText({ id: sales.id, number: to("0001"), text: "Hi" }),
    ).rejects.toMatchObject({
      code: "SEND_FAILED",
      status: 502,
    });
  });

  test("without an acknowledgement returns SEND_TIMEOUT, and its outcome follows as an event", async () => {
    const refusal = await sales.client
      .sendText({ id: sales.id, number: to("0002"), text: "Anybody?" }, { idempotencyKey: "patience" })
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "SEND_TIMEOUT", status: 504, details: { sent: "unknown" } });
    const { message_id } = (refusal as { details: { message_id: string } }).details;
    const again = sales.client.sendText(
      { id: sales.id, number: to("0002"), text: "Anybody?" },
      { idempotencyKey: "patience" },
    );
    await expect(again).rejects.toMatchObject({ code: "SEND_TIMEOUT", details: { message_id } });
    await waitUntil(() => isInDoubt(message_id));
    await gateway.advance(61_000);
    const [failed] = await outcomeOf(message_id);
    expect(failed?.body).toMatchObject({
      event: "message.failed",
      data: { error: { code: "UNKNOWN_OUTCOME" } },
    });
  });

  test("on an instance that was never paired returns 409 with its status", async () => {
    const idle = await gateway.createInstance();
    await expect(idle.client.sendText({ id: idle.id, number: friend, text: "Hi" })).rejects.toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
      status: 409,
      details: { status: "created" },
    });
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

  test("keeps the order of its chat", async () => {
    const number = to("7777");
    for (let n = 0; n < 20; n++) {
      await sales.client.sendText({ id: sales.id, number, text: `n${n}`, async: true });
    }
    const sent = await receiver.waitFor(
      ({ body }) => body.event === "message.sent" && body.data.message.jid.startsWith(number),
      20,
    );
    expect(sent.map((item) => item.body.data.message.text)).toEqual(
      Array.from({ length: 20 }, (_, n) => `n${n}`),
    );
  });

  test("is sent before a later sync send to the same chat", async () => {
    const number = to("6666");
    for (let n = 0; n < 5; n++)
      await sales.client.sendText({ id: sales.id, number, text: `n${n}`, async: true });
    await sales.client.sendText({ id: sales.id, number, text: "n5" });
    const sent = await receiver.waitFor(
      ({ body }) => body.event === "message.sent" && body.data.message.jid.startsWith(number),
      6,
    );
    expect(sent.map((item) => item.body.data.message.text)).toEqual(["n0", "n1", "n2", "n3", "n4", "n5"]);
  });

  test("to an instance that was never paired is rejected at once and leaves nothing behind", async () => {
    const idle = await gateway.createInstance();
    await expect(
      idle.client.sendText({ id: idle.id, number: friend, text: "Hi", async: true }),
    ).rejects.toMatchObject({ code: "INSTANCE_NOT_CONNECTED" });
    const rows = await gateway.database.db
      .selectFrom("message")
      .select("id")
      .where("instance_id", "=", idle.id)
      .execute();
    expect(rows).toEqual([]);
  });
});

describe("a repeated request", () => {
  test("with the same Idempotency-Key returns the same message", async () => {
    const send = () =>
      sales.client.sendText({ id: sales.id, number: friend, text: "Once" }, { idempotencyKey: "order-1" });
    const [first, second] = [await send(), await send()];
    expect(second.data.message_id).toBe(first.data.message_id);
  });

  test("with the same key at the same moment creates one message and one job", async () => {
    const send = () =>
      sales.client.sendText(
        { id: sales.id, number: friend, text: "Once", async: true },
        { idempotencyKey: "order-2" },
      );
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    const jobs = new Set(answers.map((response) => (response as unknown as { jobId: string }).jobId));
    expect(jobs.size).toBe(1);
  });

  test("with the same key and another body is rejected", async () => {
    await sales.client.sendText({ id: sales.id, number: friend, text: "A" }, { idempotencyKey: "order-3" });
    await expect(
      sales.client.sendText({ id: sales.id, number: friend, text: "B" }, { idempotencyKey: "order-3" }),
    ).rejects.toMatchObject({ code: "IDEMPOTENCY_MISMATCH", status: 422 });
  });

  test("with the same client_message_id returns the same message", async () => {
    const send = () =>
      sales.client.sendText({ id: sales.id, number: friend, text: "Mine", client_message_id: "invoice 7" });
    expect((await send()).data.message_id).toBe((await send()).data.message_id);
  });

  test("after a day creates a new message", async () => {
    const send = () =>
      sales.client.sendText({ id: sales.id, number: friend, text: "Daily" }, { idempotencyKey: "order-4" });
    const first = await send();
    await gateway.advance(24 * 3_600_000 + 1000);
    expect((await send()).data.message_id).not.toBe(first.data.message_id);
  });

  test("that waited for an uncommitted key accepts the key, however old it is", async () => {
    const { pool } = gateway.database;
    const send = (idempotencyKey: string) =>
      sales.client.sendText({ id: sales.id, number: friend, text: "Hung" }, { idempotencyKey });
    await send("order-5");
    const hung = await pool.connect();
    try {
      // An uncommitted transaction: its message and key are not visible yet.
      await hung.query("begin");
      await hung.query(`
        with twin as (
          insert into message select (jsonb_populate_record(m, jsonb_build_object(
            'id', nextval('message_id_seq'), 'message_id', 'HUNG', 'job_id', 'hung'))).*
          from message m join idempotency i on i.message = m.id where i.key = 'key:order-5'
          returning id
        )
        insert into idempotency (account_id, instance_id, route, key, fingerprint, message, created_at)
        select account_id, instance_id, route, 'key:order-6', fingerprint, twin.id, now() - interval '2 minutes'
        from idempotency, twin where key = 'key:order-5'`);
      const answer = send("order-6").then(
        ({ data }) => data.message_id,
        ({ code }: WaygateError) => code,
      );
      const waits =
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await waitUntil(async () => (await pool.query(waits)).rows.length > 0);
      await hung.query("commit");
      // The waiting request may have timed out.
      expect(["HUNG", "UNAVAILABLE"]).toContain(await answer);
    } finally {
      hung.release(true);
    }
    const { rows } = await pool.query("select from message where content ->> 'text' = 'Hung'");
    expect(rows).toHaveLength(2);
  });
});

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

describe("a received text", () => {
  test("is stored once and reported to the webhook with all known data of its sender", async () => {
    const { data } = await sales.client.sandboxReceive({
      id: sales.id,
      from: "5511977771111",
      push_name: "Bia",
      text: "Olá",
    });
    const [received] = await receiver.waitFor(
      ({ body }) => body.event === "message.received" && body.data.message.message_id === data.message_id,
    );
    expect(received?.body.data).toMatchObject({
      message: {
        direction: "inbound",
        from_me: false,
        origin: "contact",
        status: "received",
        text: "Olá",
        phone: "5511977771111",
        lid: expect.stringMatching(/@lid$/),
        sender: { push_name: "Bia", phone: "5511977771111" },
      },
      conversation: { title: "Bia", type: "contact", phone: "5511977771111" },
    });
  });

  test("from an echoing sandbox number completes a conversation", async () => {
    await sales.client.sendText({ id: sales.id, number: to("0004"), text: "ping" });
    const [echo] = await receiver.waitFor(
      ({ body }) => body.event === "message.received" && body.data.message.text === "echo: ping",
    );
    expect(echo?.body.data.message.phone).toBe(to("0004"));
  });
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

describe("a request with invalid input", () => {
  test.each([
    ["no recipient", { text: "Hi" }, "number"],
    ["a recipient without digits", { number: "abc", text: "Hi" }, "number"],
    ["no text", { number: friend }, "text"],
    ["an empty text", { number: friend, text: "" }, "text"],
    ["a text that is too long", { number: friend, text: "x".repeat(65_537) }, "text"],
    ["a text that is an object", { number: friend, text: { a: 1 } }, "text"],
    ["a flag of the wrong type", { number: friend, text: "Hi", async: "yes" }, "async"],
  ])("with %s is rejected, and the error names the field", async (_, body, field) => {
    await expect(sales.client.sendText({ id: sales.id, ...body } as never)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      status: 400,
      details: { fields: [expect.objectContaining({ field })] },
    });
  });

  test("with U+0000 or lone surrogates is cleaned instead of rejected", async () => {
    const { data } = await sales.client.sendText({ id: sales.id, number: friend, text: "a\u0000b\ud800c" });
    const { data: message } = await sales.client.getMessage({
      id: sales.id,
      messageId: data.message_id ?? "",
    });
    expect(message.text).toBe("ab\ufffdc");
  });

  test.each([
    ["to", friend],
    ["chatId", `${friend}@c.us`],
    ["chat_id", friend],
    ["remoteJid", `${friend}@s.whatsapp.net`],
    ["recipient", friend],
    ["Phone", friend],
  ])("may name the recipient in the field %s", async (name, value) => {
    const response = await sales.client.sendText({
      id: sales.id,
      [name]: value,
      text: "Hi",
      async: true,
    } as never);
    expect(response.success).toBe(true);
  });

  test.each(["message", "body", "Body"])("may contain the text in the field %s", async (name) => {
    const response = await sales.client.sendText({
      id: sales.id,
      number: friend,
      [name]: "Hi",
      async: true,
    } as never);
    expect(response.success).toBe(true);
  });
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
