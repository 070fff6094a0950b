import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeChatwoot } from "./servers/fake-chatwoot.ts";
import { file, startFileServer } from "./servers/file-server.ts";
import { startN8n } from "./servers/n8n-server.ts";
import { type ProxyServer, startHttpProxy } from "./servers/proxy-server.ts";
import { startReceiver } from "./servers/receiver.ts";
import { bubble, startTypebot } from "./servers/typebot-server.ts";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "./stories/integration-story.ts";

/** Stands before another server and passes its answers on as late as a test wants. */
interface SlowRelay {
  readonly url: string;
  /** Requests that were passed on. */
  readonly passed: string[];
  /** Holds every answer for so long from now on. */
  hold(ms: number): void;
  close(): Promise<void>;
}

/** The target is asked for its address at each request. */
async function startSlowRelay(target: () => string): Promise<SlowRelay> {
  const passed: string[] = [];
  const closing = new AbortController();
  let holdMs = 0;

  async function pass(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url = "/" } = asked;
    passed.push(url);
    const onward = request(new URL(url, target()), { method, headers });
    asked.pipe(onward);
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      onward.on("response", resolve).on("error", reject),
    );
    await delay(holdMs, undefined, { signal: closing.signal });
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  }

  const server = createServer((asked, response) => {
    pass(asked, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    hold(ms) {
      holdMs = ms;
    },
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Longer than any shorter internal limit, and shorter than every documented time limit of a request. */
const HOLD_MS = 11_000;

describe.each(["directly", "through a proxy"])("outgoing requests that are sent %s", (kind) => {
  let story: IntegrationStory;
  let proxy: ProxyServer | undefined;
  const closers: (() => unknown)[] = [];

  beforeAll(async () => {
    if (kind === "through a proxy") {
      proxy = await startHttpProxy();
      closers.push(() => proxy?.close());
    }
    const egress = proxy && { WAYGATE_EGRESS_PROXY: `http://127.0.0.1:${proxy.port}` };
    story = await startIntegrationStory({ ...egress });
    closers.unshift(() => story.stop());
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });

  async function slow(url: string): Promise<SlowRelay> {
    const relay = await startSlowRelay(() => url);
    closers.push(() => relay.close());
    return relay;
  }

  async function connectShop() {
    const { gateway } = story;
    const shop = await gateway.connectInstance();
    const say = (from: string, text: string) => shop.client.sandboxReceive({ id: shop.id, from, text });
    return { shop, say };
  }

  test.concurrent("count an event as delivered when the webhook responds after 11 s", async () => {
    const receiver = await startReceiver();
    closers.push(() => receiver.close());
    const relay = await slow(receiver.url);
    relay.hold(HOLD_MS);
    const { shop, say } = await connectShop();
    const { id } = shop;
    await shop.client.createWebhook({ id, url: relay.url, events: ["message.received"] });
    await say(newPerson(), "hi");
    const read = async () =>
      story.gateway.database.db
        .selectFrom("delivery")
        .select(["status", "attempts"])
        .where("instance_id", "=", id)
        .where("status", "<>", "pending")
        .execute();
    await waitUntil(async () => (await read()).length > 0);
    expect(await read()).toEqual([{ status: "delivered", attempts: 1 }]);
    expect(receiver.received).toHaveLength(1);
  });

  test.concurrent("receive the response of an n8n workflow after 11 s, and run it once", async () => {
    const n8n = await startN8n();
    closers.push(() => n8n.shut());
    n8n.activate("slow", { respond: "responseNode", output: { output: "thought about it" } });
    const relay = await slow(n8n.url);
    relay.hold(HOLD_MS);
    const { shop, say } = await connectShop();
    const config = { webhook_url: `${relay.url}/webhook/slow`, reply_mode: "response" };
    await shop.client.saveIntegration({ id: shop.id, provider: "n8n", config });
    const ana = newPerson();
    await say(ana, "hi");
    expect(await story.receivedBy(ana, 1)).toEqual(["thought about it"]);
    expect(n8n.executions).toHaveLength(1);
  });

  test.concurrent("receive the response of a Typebot bot after 11 s, and start it once", async () => {
    const typebot = await startTypebot();
    closers.push(() => typebot.shut());
    typebot.publish("slow", [bubble("b1", "slow and steady")]);
    const relay = await slow(typebot.url);
    relay.hold(HOLD_MS);
    const { shop, say } = await connectShop();
    const config = { base_url: relay.url, public_id: "slow" };
    await shop.client.saveIntegration({ id: shop.id, provider: "typebot", config });
    const ana = newPerson();
    await say(ana, "hi");
    expect(await story.receivedBy(ana, 1)).toEqual(["slow and steady"]);
    expect(relay.passed.filter((path) => path.endsWith("/startChat"))).toHaveLength(1);
  });

  test.concurrent("post a message once to a Chatwoot whose every response takes 11 s", async () => {
    const chatwoot = await new FakeChatwoot().start();
    closers.push(() => chatwoot.stop());
    const relay = await slow(chatwoot.url);
    const { shop, say } = await connectShop();
    const { token: access_token, account_id, inbox } = chatwoot;
    const config = { url: relay.url, access_token, account_id, inbox_id: inbox.id };
    await shop.client.saveIntegration({ id: shop.id, provider: "chatwoot", config });
    relay.hold(HOLD_MS);
    await say(newPerson(), "slow inbox");
    await waitUntil(() => chatwoot.messages.length > 0, 120_000);
    const read = async () => (await shop.client.getIntegration({ id: shop.id, provider: "chatwoot" })).data;
    await waitUntil(async () => (await read()).waiting === 0, 120_000);
    expect(chatwoot.messages.map(({ content }) => content)).toEqual(["slow inbox"]);
    expect((await read()).last_error).toBeNull();
  });

  test.concurrent("fetch a file that arrives after 11 s, which is then sent", async () => {
    const files = await startFileServer();
    closers.push(() => files.close());
    const late = file(Buffer.from("a price list"), "text/plain");
    const url = files.serve("/prices.txt", (response) => void setTimeout(() => late(response), HOLD_MS));
    const { shop } = await connectShop();
    const to = newPerson();
    const { data } = await shop.client.sendMedia({ id: shop.id, number: to, url, caption: "prices" });
    expect(data.message_id).not.toBe("");
    expect(await story.receivedBy(to, 1)).toEqual(["prices"]);
    if (proxy) expect(proxy.targets).toContain(new URL(url).host);
  });
});
