import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../../test/gateway.ts";
import { type StableAddress, startStableAddress } from "../../../test/servers/stable-address.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../../../test/whatsapp-server/server.ts";
import { trustAuthority } from "../../../test/whatsapp-stage.ts";
import { createClient } from "../../client/client.ts";

let server: WhatsAppServer;
let gateway: TestGateway;
let elsewhere: string;
let phone: string;
const addresses: StableAddress[] = [];

beforeAll(async () => {
  server = await startWhatsAppServer();
  trustAuthority(server.caFile);
  phone = (await server.control.addPerson({ name: "Shop" })).phone;
  addresses.push(await startStableAddress(() => gateway?.url), await startStableAddress(() => elsewhere));
  const secret = randomBytes(32).toString("base64");
  const [settings, others] = addresses.map(({ url }) => ({
    WAYGATE_NODE_URL: url,
    WAYGATE_WHATSAPP_URL: server.url,
    WAYGATE_WHATSAPP_ROOT_KEY: server.rootKeyHex,
    WAYGATE_CLUSTER_SECRET: secret,
  }));
  gateway = await startTestGateway(settings);
  elsewhere = (await gateway.addNode({ ...others, WAYGATE_ROLES: "api" })).url;
});
afterAll(async () => {
  await gateway?.stop();
  for (const address of addresses) address.close();
  expect(await server?.control.unhandled()).toEqual([]);
  await server?.close();
});

/** An instance and a client of a node without its session. The phone requires its passkey. */
async function required() {
  const { data } = await gateway.owner.createInstance({ name: "Shop", network: "whatsapp" });
  const { id, api_key } = data;
  const client = createClient({ baseUrl: elsewhere, apiKey: api_key });
  const { qr_code } = (await client.connectInstance({ id, wait_seconds: 60 })).data;
  const linked = server.control.scanWithPasskey(phone, qr_code ?? "").catch(() => "ended");
  await expect.poll(async () => (await client.getPasskey({ id })).data.state).toBe("required");
  return { id, client, linked, challenge: (await client.getPasskey({ id })).data.challenge ?? {} };
}

test("another node shows the passkey challenge and forwards the assertion to the owner", async () => {
  const { id, client, linked, challenge } = await required();
  const foreign = await server.control.signPasskey(phone, { ...challenge, challenge: "b2xk" });
  await expect(client.submitPasskeyAssertion({ ...foreign, id })).rejects.toMatchObject({
    status: 409,
    code: "CONFLICT",
    message: expect.stringContaining("another challenge"),
  });
  const evil = await server.control.signPasskey(phone, challenge, { origin: "https://evil.example" });
  await expect(client.submitPasskeyAssertion({ ...evil, id })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
  expect((await client.getPasskey({ id })).data.state).toBe("required");
  const right = await server.control.signPasskey(phone, challenge);
  expect((await client.submitPasskeyAssertion({ ...right, id })).data.state).not.toBe("required");
  expect(await linked).toBeGreaterThan(0);
  await expect.poll(async () => (await client.getInstanceStatus({ id })).data.connected).toBe(true);
});

test("another node cancels the passkey; the instance reports why and connects again", async () => {
  const { id, client, linked } = await required();
  expect((await client.cancelPasskey({ id })).data.state).toBe("none");
  expect(await linked).toBe("ended");
  const { data } = await client.getInstanceStatus({ id });
  expect(data).toMatchObject({ status: "disconnected", pairing_error: { code: "passkey_cancelled" } });
  expect((await client.connectInstance({ id, wait_seconds: 60 })).data.status).toBe("qr_pending");
});

test("a dead node that held the socket leaves no passkey challenge that could be signed", async () => {
  const { id, client, challenge } = await required();
  const right = await server.control.signPasskey(phone, challenge);
  await gateway.restart();
  const submit = () =>
    client.submitPasskeyAssertion({ ...right, id }).then(
      () => 200,
      ({ status }) => status,
    );
  // The request can be repeated until the session has an owner again.
  await expect.poll(submit).not.toBe(503);
  expect(await submit()).toBe(409);
  await expect.poll(async () => (await client.getInstanceQr({ id })).data?.qr_code).toBeTruthy();
});
