import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createGate } from "../../../../test/gate.ts";
import { waitUntil } from "../../../../test/gateway.ts";
import { setUpWebhookStory, textIs } from "../../../../test/stories/webhook-story.ts";

// No attempt of these tests reaches the timeout.
const story = setUpWebhookStory({ WAYGATE_WEBHOOK_TIMEOUT: "30s" });
const { addWebhook, receive, logs, delivery } = story;

/** The log row of the webhook's only attempt. */
async function oneTry(of = story) {
  await waitUntil(async () => (await of.logs()).length > 0);
  const [log] = await of.logs();
  return log;
}

describe("a receiver", () => {
  test("that sends an endless response is cut off, and 4 KiB of it are stored", async () => {
    const webhook = await addWebhook();
    let written = 0;
    story.receiver.respond(async (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const part = Buffer.alloc(1_048_576, "x");
      response.on("error", () => {});
      for (let n = 0; n < 500 && !response.closed; n++) {
        written += part.length;
        if (!response.write(part))
          await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      }
    });
    const { event_id } = await receive("Flood");
    await delivery(event_id, webhook.id, ({ status }) => status === "delivered");
    expect((await oneTry())?.response_body).toBe("x".repeat(4096));
    expect(written).toBeLessThan(100 * 1_048_576);
  });

  test("that breaks off during a 2xx response has accepted the event", async () => {
    const breaks = await listenRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf", () => socket.resetAndDestroy());
    });
    const webhook = await addWebhook({ url: breaks.url });
    const { event_id } = await receive("Break");
    await delivery(event_id, webhook.id, ({ status }) => status === "delivered");
    await breaks.close();
  });
});

// No response of these tests arrives in time, so the shortest timeout is enough.
describe("a receiver that lets the time limit pass", () => {
  const impatient = setUpWebhookStory({ WAYGATE_WEBHOOK_TIMEOUT: "1s" });
  const { addWebhook, receive, delivery } = impatient;

  test("during its body has accepted the event with its 2xx", async () => {
    const webhook = await addWebhook();
    impatient.receiver.respond((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(drip));
    });
    const { event_id } = await receive("Drip");
    expect(await delivery(event_id, webhook.id, ({ status }) => status === "delivered")).toMatchObject({
      response_status: 200,
      attempts: 1,
      error: null,
    });
  });

  test("and sends its response headers slowly is disconnected at the timeout", async () => {
    const drips = await listenRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket.write("x"), 20);
      socket.on("close", () => clearInterval(drip));
    });
    await addWebhook({ url: drips.url });
    await receive("Drip");
    expect(await oneTry(impatient)).toMatchObject({
      success: false,
      status_code: null,
      error_class: "timeout_total",
    });
    await drips.close();
  });

  test("and stays silent times out and is retried", async () => {
    let connections = 0;
    const silent = await listenRaw(() => {
      connections += 1;
    });
    const webhook = await addWebhook({ url: silent.url });
    const { event_id } = await receive("Silence");
    const waiting = await delivery(event_id, webhook.id, ({ status }) => status === "retrying");
    expect(waiting).toMatchObject({
      attempts: 1,
      response_status: null,
      error: "No response within the time limit.",
    });
    await impatient.gateway.advance(42_000);
    await delivery(event_id, webhook.id, ({ attempts }) => attempts === 2);
    expect(connections).toBe(2);
    await silent.close();
  });
});

describe("one failing receiver among twenty", () => {
  test("that hangs does not delay the others", async () => {
    const hanging = await listenRaw(() => {});
    const bad = await addWebhook({ url: hanging.url });
    const good = await Promise.all(Array.from({ length: 19 }, () => story.startReceiver()));
    for (const receiver of good) await addWebhook({ url: receiver.url });
    for (let n = 0; n < 5; n++) await receive(`Round ${n}`, `551197777000${n}`);
    await Promise.all(good.map((receiver) => receiver.waitFor(textIs("Round 4"))));
    await Promise.all(good.map((receiver) => waitUntil(() => receiver.received.length === 5)));
    expect(good.flatMap((receiver) => receiver.forged)).toEqual([]);
    const tries = await logs({ webhook_id: bad.id });
    expect(tries.every((log) => !log.success)).toBe(true);
    await hanging.close();
  });

  test("does not delay the others even at the same address", async () => {
    const good = createGate();
    story.receiver.respond(async (item, response) => {
      if (item.headers["x-which"] === "bad") await good.opened;
      good.open();
      response.writeHead(200).end();
    });
    for (let n = 0; n < 8; n++) await addWebhook({ headers: { "x-which": "bad" } });
    await addWebhook({ headers: { "x-which": "good" } });
    await receive("Shared host");
    await waitUntil(async () => (await logs()).length === 9);
    expect(await logs({ success: "false" })).toEqual([]);
  });
});

describe("the circuit breaker", () => {
  test("opens after ten failures: later events of that webhook wait without an attempt", async () => {
    const failing = await story.startReceiver();
    failing.respond(500);
    const broken = await addWebhook({ url: failing.url });
    const healthy = await addWebhook();
    for (let n = 0; n < 10; n++) await receive(`Fails ${n}`, `55119777710${10 + n}`);
    await waitUntil(async () => (await logs({ webhook_id: broken.id })).length === 10);
    const waiting = [];
    for (let n = 0; n < 3; n++) waiting.push(await receive(`Waits ${n}`, `55119777720${10 + n}`));
    for (const { event_id } of waiting)
      await delivery(event_id, healthy.id, ({ status }) => status === "delivered");
    for (const { event_id } of waiting) {
      expect(await delivery(event_id, broken.id)).toMatchObject({ status: "pending", attempts: 0 });
    }
    expect(failing.received).toHaveLength(10);

    failing.respond(200);
    await story.gateway.advance(42_000);
    for (const { event_id } of waiting)
      await delivery(event_id, broken.id, ({ status }) => status === "delivered");
    await waitUntil(() => failing.received.length === 23);
  });

  test("lets a manual attempt through at once", async () => {
    story.receiver.respond(404);
    const webhook = await addWebhook();
    for (let n = 0; n < 5; n++) await receive(`Missing ${n}`, `55119777730${10 + n}`);
    await waitUntil(async () => (await logs()).length === 5);
    const { event_id } = await receive("Waits", "5511977774001");
    story.receiver.respond(200);
    await story.shop.client.retryEvent({ id: story.shop.id, eventId: event_id });
    expect(await delivery(event_id, webhook.id, ({ status }) => status === "delivered")).toMatchObject({
      attempts: 0,
    });
    expect(story.receiver.received.filter(textIs("Waits"))).toHaveLength(1);
  });
});

describe("Retry-After", () => {
  test.each([429, 503])("of a %i response pauses the whole webhook for that long", async (status) => {
    const other = await story.startReceiver();
    await addWebhook({ url: other.url });
    const webhook = await addWebhook();
    story.receiver.respond((_, response) => {
      response.writeHead(status, { "retry-after": "50" }).end();
    });
    const first = await receive("Slower", "5511977770001");
    const asked = await delivery(first.event_id, webhook.id, (one) => one.status === "retrying");
    const waitMs = new Date(asked.next_retry_at ?? 0).getTime() - new Date(first.created_at).getTime();
    expect(waitMs).toBeGreaterThanOrEqual(50_000);
    const second = await receive("Also waits", "5511977770002");
    await other.waitFor(textIs("Also waits"));
    expect(await delivery(second.event_id, webhook.id)).toMatchObject({ status: "pending", attempts: 0 });
    expect(story.receiver.received).toHaveLength(1);
    story.receiver.respond(200);
    await story.gateway.advance(60_000);
    await story.receiver.waitFor(textIs("Slower"), 2);
    await story.receiver.waitFor(textIs("Also waits"));
  });
});

describe("a 410 response", () => {
  test("disables the webhook at once and reports it to subscribers", async () => {
    const watcher = await story.startReceiver();
    await addWebhook({ url: watcher.url, events: ["webhook.failed"] });
    const webhook = await addWebhook();
    story.receiver.respond(410);
    const { event_id } = await receive("Gone");
    const [notice] = await watcher.waitFor(({ body }) => body.data.reason === "endpoint_disabled");
    expect(notice?.body).toMatchObject({
      event: "webhook.failed",
      data: {
        webhook_id: webhook.id,
        error: "The receiver responded with 410.",
        event_id: null,
        attempt: null,
      },
    });
    const { data } = await story.shop.client.listWebhooks({ id: story.shop.id });
    expect(data.find(({ id }) => id === webhook.id)).toMatchObject({
      is_active: false,
      disabled_reason: "The receiver responded with 410.",
    });
    expect(await delivery(event_id, webhook.id)).toMatchObject({ status: "failed", attempts: 1 });
    await receive("Not for it");
    await waitUntil(async () => (await logs({ webhook_id: webhook.id })).length === 1);
    expect(story.receiver.received).toHaveLength(1);
  });
});

/** A receiver on a raw TCP socket. */
async function listenRaw(respond: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", () => respond(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
