import { randomBytes } from "node:crypto";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newPhone, startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../../../test/whatsapp-server/server.ts";
import { trustAuthority } from "../../../test/whatsapp-stage.ts";
import { createClient } from "../../client/client.ts";

let network: WhatsAppServer;
let gateway: TestGateway;
let hostile: Server;
let hits = 0;

beforeEach(async () => {
  network = await startWhatsAppServer();
  trustAuthority(network.caFile);
  hostile = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  await new Promise<void>((done) => hostile.listen(0, "127.0.0.1", done));
});

afterEach(async () => {
  await gateway.stop();
  await network.close();
  await new Promise((done) => hostile.close(done));
});

test("a contact's file with an address of its own is never fetched from there, even if the policy allows the address", async () => {
  gateway = await startTestGateway({
    WAYGATE_WHATSAPP_URL: network.url,
    WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
    WAYGATE_ALLOWED_HOSTS: "external,private,loopback",
  });
  const { control } = network;
  const [me, stranger] = [
    await control.addPerson({ phone: newPhone() }),
    await control.addPerson({ phone: newPhone() }),
  ];
  const { data } = await gateway.owner.createInstance({ name: "Sales", network: "whatsapp" });
  const client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
  await control.scan(me.phone, (await client.connectInstance({ id: data.id })).data.qr_code ?? "");
  await waitUntil(async () => (await client.getInstanceStatus({ id: data.id })).data.connected);
  const host = `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
  for (const directPath of ["/v/x", `@${host}/x`, `//${host}/x`, ".attacker.example/x", ""]) {
    const [mediaKey, fileSha256, fileEncSha256] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const keys = { mediaKey, fileSha256, fileEncSha256, fileLength: 3, mimetype: "image/png" };
    const message = { imageMessage: { url: `https://${host}/x`, directPath, ...keys } };
    await control.sendMessage(stranger.phone, me.phone, { kind: "raw", message });
  }
  await waitUntil(async () => {
    const files = await gateway.database.db.selectFrom("media").select("status").execute();
    return files.length === 5 && files.every(({ status }) => status !== "pending");
  });
  expect(hits).toBe(0);
});
