import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../test/gateway.ts";
import { blackPng } from "../../test/sample-files.ts";
import { type StableAddress, startStableAddress } from "../../test/servers/stable-address.ts";
import { type Client, createClient, type WaygateError } from "../client/client.ts";
import { NODE_RPC_HEADERS } from "../platform/nodes/node-rpc-client.ts";
import {
  newNonce,
  senderProofText,
  signedContentText,
  signMessage,
} from "../platform/nodes/node-rpc-message.ts";

const SECRET = randomBytes(32).toString("base64");

const addresses: StableAddress[] = [];
afterAll(() => {
  for (const address of addresses) address.close();
});

async function settingsOf(node: () => string | undefined): Promise<Record<string, string>> {
  const address = await startStableAddress(node);
  addresses.push(address);
  return { WAYGATE_NODE_URL: address.url, WAYGATE_CLUSTER_SECRET: SECRET };
}

const isThat = (id: string) => (message: { message_id: string }) => message.message_id === id;

describe("a node without the session", () => {
  let gateway: TestGateway;
  let shop: TestInstance;
  let elsewhere: Client;
  let elsewhereUrl: string;
  /** URL at which the other node calls the gateway. */
  let nodeUrl: string;
  beforeAll(async () => {
    const settings = await settingsOf(() => gateway?.url);
    nodeUrl = settings.WAYGATE_NODE_URL ?? "";
    gateway = await startTestGateway(settings);
    shop = await gateway.connectInstance();
    const ofOther = await settingsOf(() => elsewhereUrl);
    elsewhereUrl = (await gateway.addNode({ ...ofOther, WAYGATE_ROLES: "api" })).url;
    elsewhere = createClient({ baseUrl: elsewhereUrl, apiKey: shop.api_key });
  });
  afterAll(() => gateway.stop());

  test("forwards operations to the session's node, including pictures and errors", async () => {
    const { data } = await elsewhere.checkContacts({
      id: shop.id,
      numbers: ["5511999990011", "5511999990000"],
    });
    expect(data.map(({ exists }) => exists)).toEqual([true, false]);
    await elsewhere.setProfilePhoto({ id: shop.id, base64: blackPng(64).toString("base64") });
    expect((await elsewhere.getProfile({ id: shop.id })).data.picture_url).toContain("http");
    await elsewhere.setPresence({ id: shop.id, presence: "typing", number: "5511999990011" });
    const unknown = elsewhere.getGroup({ id: shop.id, jid: "120363000000000001@g.us" });
    await expect(unknown).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("accepts sends, and receives their outcome", async () => {
    const sent = await elsewhere.sendText({ id: shop.id, number: "5511999990011", text: "From elsewhere" });
    expect(["sent", "delivered", "read"]).toContain(sent.data.status);
  });

  test("fetches files from the other node's folder", async () => {
    const picture = blackPng(32);
    const { data } = await shop.client.sandboxReceive({
      id: shop.id,
      from: "5511999990011",
      media: { base64: picture.toString("base64"), mime_type: "image/png" },
    });
    const named = { id: shop.id, message_id: data.message_id };
    await waitUntil(async () =>
      (await elsewhere.listMessages({ id: shop.id })).data.some(isThat(data.message_id)),
    );
    expect(await elsewhere.downloadMedia({ ...named, return_base64: true })).toMatchObject({
      data: { base64: picture.toString("base64") },
    });
  });

  test("downloads the backups that the other node has made", async () => {
    const { data } = await gateway.admin.createBackup({});
    const from = async (baseUrl: string) => {
      const client = createClient({ baseUrl, adminToken: ADMIN_TOKEN });
      const { stream } = await client.downloadBackup({ id: data.id });
      return Buffer.from(await new Response(stream).arrayBuffer());
    };
    const bytes = await from(elsewhereUrl);
    expect(bytes).toEqual(await from(gateway.url));
    expect(bytes).toHaveLength(data.size ?? 0);
  });

  test("reports an unknown outcome if the other node did its work and died before its response", async () => {
    const dying = await startDying(nodeUrl);
    const node = "update node set url = $1 where url = $2";
    await gateway.database.pool.query(node, [dying.url, nodeUrl]);
    const made = elsewhere.createGroup({ id: shop.id, name: "Once", participants: ["5511999990011"] });
    await expect(made).rejects.toMatchObject({ status: 504, code: "SEND_TIMEOUT" });
    await gateway.database.pool.query(node, [nodeUrl, dying.url]);
    await dying.close();
    const { data } = await shop.client.listGroups({ id: shop.id, refresh: true });
    expect(data.filter(({ subject }) => subject === "Once")).toHaveLength(1);
  });

  test("reports that the other node is unreachable, and works again once the session is back", async () => {
    const status = async () => (await elsewhere.getInstanceStatus({ id: shop.id })).data.connected;
    await gateway.restart();
    await waitUntil(status);
    await waitUntil(async () => {
      const checked = await elsewhere
        .checkContacts({ id: shop.id, numbers: ["5511999990012"], refresh: true })
        .catch((error) => error);
      // 409 while the session reconnects for longer than the operation waits.
      if (checked instanceof Error) expect([409, 503]).toContain((checked as WaygateError).status);
      return !(checked instanceof Error);
    });
  });
});

test("without a worker async sends are refused, and without a session node sync sends too, and the status says so", async () => {
  const urls: Partial<Record<"api" | "sessions", string>> = {};
  const gateway = await startTestGateway({ ...(await settingsOf(() => urls.api)), WAYGATE_ROLES: "api" });
  urls.api = gateway.url;
  const sessions = await gateway.addNode({
    ...(await settingsOf(() => urls.sessions)),
    WAYGATE_ROLES: "sessions",
  });
  urls.sessions = sessions.url;
  try {
    const { id, client } = await gateway.connectInstance();
    const text = { id, number: "5511999990011", text: "Hi" };
    const noWorker = { status: 503, code: "QUEUE_UNAVAILABLE" };
    await expect(client.sendText({ ...text, async: true })).rejects.toMatchObject(noWorker);
    expect((await client.sendText(text)).data.status).not.toBe("queued");
    await sessions.stop();
    await waitUntil(async () => !(await client.getInstanceStatus({ id })).data.connected);
    const noSession = {
      status: 503,
      code: "UNAVAILABLE",
      message: expect.stringContaining("nothing was sent"),
    };
    await expect(client.sendText(text)).rejects.toMatchObject(noSession);
    await expect(client.sendText({ ...text, async: true })).rejects.toMatchObject(noWorker);
    const lost = { status: "reconnecting", connection_status: "reconnecting" };
    const { data } = await client.getInstanceStatus({ id });
    expect(data).toMatchObject({ ...lost, connected: false, reason: "no_session_node" });
    expect((await gateway.owner.listInstances({})).data).toMatchObject([lost]);
    expect((await gateway.owner.getInstance({ id })).data).toMatchObject(lost);
  } finally {
    await gateway.stop();
  }
});

/** A proxy in front of a node that runs the operation and fails before its response. */
async function startDying(url: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    // An operation is signed for one node, so the proxy signs it again for the node behind it.
    const identity = { target: url, nonce: newNonce() };
    const headers = {
      "content-type": "text/plain",
      [NODE_RPC_HEADERS.nonce]: identity.nonce,
      [NODE_RPC_HEADERS.proof]: signMessage(SECRET, senderProofText(identity)),
      [NODE_RPC_HEADERS.signature]: signMessage(SECRET, signedContentText(identity, body)),
    };
    expect((await fetch(`${url}${request.url}`, { method: "POST", body, headers })).status).toBe(200);
    response.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
