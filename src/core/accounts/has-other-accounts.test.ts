import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient } from "../../client/client.ts";

const BY_DEFAULT = { WAYGATE_ALLOWED_HOSTS: "" };
const BLOCKED = expect.stringContaining("not allowed by the gateway's policy");

let gateway: TestGateway;
let shop: TestInstance;
let onOtherNode: Client;
let listener: Server;
let url: string;
let hits = 0;

beforeAll(async () => {
  listener = createServer((request, response) => {
    hits += 1;
    request.resume().on("end", () => response.end("{}"));
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  url = `http://localhost:${(listener.address() as AddressInfo).port}/hook`;
  gateway = await startTestGateway(BY_DEFAULT);
  const other = await gateway.addNode(BY_DEFAULT);
  shop = await gateway.connectInstance({ webhook_url: url });
  onOtherNode = createClient({ baseUrl: other.url, apiKey: shop.api_key });
});
afterAll(async () => {
  await gateway.stop();
  await new Promise((resolve) => listener.close(resolve));
});

const tryOut = async (client: Client) => (await client.testDefaultWebhook({ id: shop.id })).data;
const detailOf = async (baseUrl: string) => {
  const operator = createClient({ baseUrl, adminToken: ADMIN_TOKEN });
  return (await operator.health()).detail?.outgoing_calls;
};

describe("a gateway with one account and default settings", () => {
  test("calls a webhook on the same machine from every node, and reports that it allows this", async () => {
    expect(await tryOut(shop.client)).toMatchObject({ success: true });
    expect(await tryOut(onOtherNode)).toMatchObject({ success: true });
    await shop.client.sandboxReceive({ id: shop.id, from: "5511977770001", text: "Hello" });
    await waitUntil(() => hits >= 3);
    expect(gateway.gateway.outgoingPolicy).toContain(
      "this machine while the owner's account is the only one",
    );
    await waitUntil(async () => (await detailOf(gateway.url))?.this_machine);
    expect(await detailOf(gateway.url)).toEqual({ allowed_hosts: ["external"], this_machine: true });
  });

  test("calls neither the private network nor its own ports", async () => {
    for (const target of ["http://10.0.0.1/hook", "http://192.168.1.10:5678/", gateway.url]) {
      const refused = shop.client.updateDefaultWebhook({ id: shop.id, url: target });
      await expect(refused).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: BLOCKED });
    }
  });

  test("calls only the internet on all nodes as soon as a second account is committed", async () => {
    const email = "second@example.com";
    const isNext = async () => (await gateway.owner.adminOverview()).data.next_account_closes_this_machine;
    expect(await isNext()).toBe(true);
    const { data: made } = await gateway.owner.createAccount({ name: "Second", email, password: PASSWORD });
    expect(made.hint).toContain("to this machine (localhost)");
    const third = await gateway.owner.createAccount({ name: "Third", email: "third@example.com" });
    expect(third.data.hint).toBeUndefined();
    expect(await isNext()).toBe(false);
    const before = hits;
    for (const client of [onOtherNode, shop.client]) {
      await expect(tryOut(client)).rejects.toMatchObject({
        code: "SEND_FAILED",
        details: { error: BLOCKED },
      });
    }
    expect(hits).toBe(before);
    const { client: second } = await signIn(gateway.url, { email });
    const refusal = { code: "VALIDATION_ERROR", message: BLOCKED };
    const created = second.createInstance({ name: "Theirs", network: "sandbox", webhook_url: url });
    await expect(created).rejects.toMatchObject(refusal);
    const { data: theirs } = await second.createInstance({ name: "Theirs", network: "sandbox" });
    const proxied = second.updateInstance({ id: theirs.id, proxy: { url: "socks5://127.0.0.1:1080" } });
    await expect(proxied).rejects.toMatchObject(refusal);
    await waitUntil(async () => (await detailOf(gateway.url))?.this_machine === false);
  });

  test("keeps this restriction after a restart, reports it, and can call an allowed host", async () => {
    await gateway.restart();
    expect(gateway.gateway.outgoingPolicy).toContain(
      "no longer this machine, since there is a second account",
    );
    const port = new URL(url).port;
    await gateway.restart({ WAYGATE_ALLOWED_HOSTS: `external,localhost:${port}` });
    const client = createClient({ baseUrl: gateway.url, apiKey: shop.api_key });
    expect(await tryOut(client)).toMatchObject({ success: true });
    const blockers = async () => (await gateway.anonymous.health()).production_blockers.map(({ key }) => key);
    expect(await blockers()).not.toContain("open_outgoing_policy");
    await gateway.restart({ WAYGATE_LOCAL_TARGETS: "on" });
    await waitUntil(async () => (await blockers()).includes("open_outgoing_policy"));
  });
});
