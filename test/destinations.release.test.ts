import { writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WaygateError } from "../packages/client/src/waygate-error.ts";
import { signBody } from "../src/core/webhooks/delivery/webhook-signature.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "./gateway.ts";
import { needs } from "./run/programs.ts";
import { makeScratchDir } from "./run/scratch-dir.ts";
import { type BrokerServer, startNatsServer, startRabbitServer } from "./servers/broker-server.ts";
import {
  type BrokerDelivery,
  type BrokerStory,
  startNatsStory,
  startRabbitStory,
} from "./stories/broker-story.ts";
import { makeAuthority } from "./whatsapp-server/media-server.ts";
import { trustCertificates } from "./whatsapp-server/protocol/trust.ts";

const CHATS = ["5511977770001", "5511977770002", "5511977770003", "5511977770004", "5511977770005"];
const PER_CHAT = 16;
const DAY_MS = 86_400_000;

let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  // A failed attempt waits until the test advances the time.
  gateway = await startTestGateway({ WAYGATE_RETRY_SCHEDULE: "12h", WAYGATE_WEBHOOK_TIMEOUT: "10s" });
});
afterAll(() => gateway?.stop());

async function addWebhook(url: string, more: object = {}) {
  shop = await gateway.connectInstance();
  const { data } = await shop.client.createWebhook({
    id: shop.id,
    url,
    events: ["message.received"],
    ...more,
  });
  return data;
}

/** The attempt of a test event, successful or not. */
async function tryOnce(url: string) {
  const webhook = await addWebhook(url);
  const failure = await shop.client
    .testWebhook({ id: shop.id, webhookId: webhook.id })
    .then(() => undefined)
    .catch((error: unknown) => error as WaygateError);
  const { data } = await shop.client.listDeliveryLogs({ id: shop.id, webhook_id: webhook.id });
  return { attempt: data[0], failure };
}

/** Contacts write concurrently, each in order. */
async function writeAll(): Promise<void> {
  const write = async (from: string) => {
    for (let n = 0; n < PER_CHAT; n++)
      await shop.client.sandboxReceive({ id: shop.id, from, text: `${from} ${n}` });
  };
  await Promise.all(CHATS.map(write));
}

async function countDelivered(): Promise<number> {
  const { rows } = await gateway.database.pool.query(
    "select count(*)::int as n from delivery d join event e using (event_id) where e.instance_id = $1 and d.status = 'delivered'",
    [shop.id],
  );
  return rows[0].n;
}

/** Texts by chat without repeats, in the broker's order. */
function textsByChat(found: readonly BrokerDelivery[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { id, body } of found) {
    if (seen.has(id)) continue;
    seen.add(id);
    const { text } = JSON.parse(String(body)).data.message;
    const [chat = ""] = text.split(" ");
    texts.set(chat, [...(texts.get(chat) ?? []), text]);
  }
  return texts;
}

const BROKERS = [
  ["NATS", "nats-server", startNatsStory],
  ["RabbitMQ", "rabbitmq-server", startRabbitStory],
] as const;

describe.each(BROKERS)("a webhook to %s", (name, program, start) => {
  describe("with the real server", needs(program), () => {
    let broker: BrokerStory;

    beforeAll(async () => {
      broker = await start();
    });
    afterAll(() => broker?.server.stop());

    test("publishes the signed body with the id of the event, and the chat at the end of its topic", async () => {
      const webhook = await addWebhook(broker.url, { headers: { "X-Shop": "north" }, format: "cloudevents" });
      await shop.client.sandboxReceive({ id: shop.id, from: CHATS[0] ?? "", text: "Hello" });
      await waitUntil(async () => (await broker.count()) > 0);
      const [message] = await broker.read();
      const event = JSON.parse(String(message?.body));
      expect(event).toMatchObject({ specversion: "1.0", type: "waygate.message.received" });
      expect(event.data.data.message.text).toBe("Hello");
      expect(message).toMatchObject({
        id: event.id,
        topic: `shop.${shop.id}.message.received.${CHATS[0]}@s_whatsapp_net`,
        headers: {
          "content-type": "application/cloudevents+json; charset=utf-8",
          "x-waygate-event-id": event.id,
          "x-waygate-signature": signBody(webhook.secret, message?.body ?? Buffer.alloc(0)),
          "X-Shop": "north",
        },
      });
      const { data } = await shop.client.listDeliveryLogs({ id: shop.id });
      expect(data).toMatchObject([{ success: true, status_code: null, error: null, error_class: null }]);
      await shop.client.deleteWebhook({ id: shop.id, webhookId: webhook.id });
    });

    test("loses no event and keeps the order of each chat when the server is killed under load", async () => {
      const before = await broker.count();
      await addWebhook(broker.url);
      const written = writeAll();
      await waitUntil(async () => (await broker.count()) - before >= CHATS.length);
      await broker.server.kill();
      await written;
      await waitUntil(async () => {
        const { data } = await shop.client.listDeliveryLogs({ id: shop.id, success: "false" });
        return data.length > 0;
      });
      await broker.server.start();
      await waitUntil(async () => {
        await gateway.advance(DAY_MS);
        return (await countDelivered()) === CHATS.length * PER_CHAT;
      });
      const texts = textsByChat((await broker.read()).slice(before));
      for (const chat of CHATS)
        expect(texts.get(chat)).toEqual(Array.from({ length: PER_CHAT }, (_, n) => `${chat} ${n}`));
    });

    test("fails as rejected with a password that the server refuses, without showing it", async () => {
      const authority = broker.server.authority.replace(/:[^@]+@/, ":another-password@");
      const { attempt, failure } = await tryOnce(broker.addressWith({ authority }));
      expect(failure).toMatchObject({ code: "SEND_FAILED" });
      expect(attempt).toMatchObject({ success: false, status_code: null, error_class: "rejected" });
      expect(attempt?.error).toMatch(new RegExp(`^${name} rejected the event: `));
      expect(JSON.stringify(attempt)).not.toContain("another-password");
    });

    test("fails as rejected if nothing on the server takes the event", async () => {
      const { attempt } = await tryOnce(broker.addressWith({ place: "unknown" }));
      expect(attempt).toMatchObject({ success: false, status_code: null, error_class: "rejected" });
    });
  });
});

describe("a webhook to a broker", () => {
  test(
    "fails as rejected if the exchange of RabbitMQ has no queue for the event",
    needs("rabbitmq-server"),
    async () => {
      const broker = await startRabbitStory();
      try {
        const url = broker.url.replace("routing_key=shop", "routing_key=nobody");
        const { attempt } = await tryOnce(url);
        expect(attempt).toMatchObject({ success: false, error_class: "rejected" });
        expect(attempt?.error).toContain("no queue takes the routing key nobody.");
      } finally {
        await broker.server.stop();
      }
    },
  );

  test.each(["nats", "tls", "amqp", "amqps"])(
    "ends its attempt at the time limit if a server at %s:// accepts connections and says nothing",
    async (scheme) => {
      const silent = await startServer(() => {});
      const { attempt } = await tryOnce(addressOf(scheme, silent));
      expect(attempt).toMatchObject({ success: false, status_code: null, error_class: "timeout_connect" });
      await waitUntil(() => silent.open.size === 0);
      silent.server.close();
    },
  );

  test.each(["nats", "amqp"])("closes a connection at %s:// that sends without end", async (scheme) => {
    const flooding = await startServer((socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, "a")));
      };
      socket.on("drain", write);
      write();
    });
    const { attempt } = await tryOnce(addressOf(scheme, flooding));
    expect(attempt).toMatchObject({ success: false, status_code: null });
    expect(attempt?.error_class).not.toMatch(/^timeout/);
    await waitUntil(() => flooding.open.size === 0);
    flooding.server.close();
  });
});

const SECURE = [
  ["NATS", "nats-server", "tls", startNatsServer],
  ["RabbitMQ", "rabbitmq-server", "amqps", startRabbitServer],
] as const;

describe.each(SECURE)("a webhook to %s over TLS", (_, program, scheme, start) => {
  describe("with the real server", needs(program), () => {
    const authority = makeAuthority("Waygate test CA of brokers");
    let server: BrokerServer;

    beforeAll(async () => {
      // Its certificate is also valid for localhost.
      server = await start(authority.issue("127.0.0.9"));
    });
    afterAll(() => server?.stop());

    const address = (host: string) =>
      `${scheme}://${server.authority.replace("127.0.0.1", host)}/${scheme === "tls" ? "shop" : "?exchange=amq.topic"}`;

    test("fails as tls while no trusted authority has signed the certificate", async () => {
      const { attempt } = await tryOnce(address("127.0.0.1"));
      expect(attempt).toMatchObject({ success: false, status_code: null, error_class: "tls" });
    });

    test("checks the certificate against the host of its address", async () => {
      const scratch = await makeScratchDir();
      const file = join(scratch.path, "ca.pem");
      await writeFile(file, authority.pem);
      const distrust = trustCertificates(file);
      try {
        // Nothing consumes the event, which only a server with a trusted certificate can report.
        const right = await tryOnce(address("localhost"));
        expect(right.attempt).toMatchObject({ success: false, error_class: "rejected" });
        const wrong = await tryOnce(address("127.0.0.1"));
        expect(wrong.attempt).toMatchObject({ success: false, error_class: "tls" });
      } finally {
        distrust();
        await scratch.remove();
      }
    });

    test("fails with the scheme that has no TLS", async () => {
      const { attempt } = await tryOnce(
        address("127.0.0.1").replace("tls:", "nats:").replace("amqps:", "amqp:"),
      );
      expect(attempt?.success).toBe(false);
      expect(attempt?.error_class).toMatch(/^(rejected|reset|protocol|timeout_connect)$/);
    });
  });
});

interface RawServer {
  server: Server;
  port: number;
  open: Set<Socket>;
}

/** A server with its own protocol, or none. */
async function startServer(greet: (socket: Socket) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    socket.resume();
    greet(socket);
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
  );
  return { server, port, open };
}

function addressOf(scheme: string, { port }: RawServer): string {
  return `${scheme}://127.0.0.1:${port}/${scheme.startsWith("amqp") ? "?exchange=events" : "shop"}`;
}
