import assert from "node:assert/strict";
import { join } from "node:path";
import type { Client } from "../../src/client/client.ts";
import { packageRoot } from "../../src/platform/package-version.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { startDatabaseProxy } from "../servers/database-proxy.ts";
import { spawnWhatsAppServer } from "../whatsapp-server/process/server-process.ts";
import type { WhatsAppServer } from "../whatsapp-server/server.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

/** A gateway and a simulated WhatsApp server, each in its own process. */
export interface WhatsAppStory {
  readonly network: WhatsAppServer;
  readonly story: E2eStory;
  /** Its phone is on the network; `pair` pairs it. */
  readonly instance: PairedInstance;
  client(): Client;
  /** Starts the gateway with a database connection that can be cut. */
  start(): Promise<void>;
  /** Cuts the database for the duration of `work`. */
  withoutDatabase(work: () => Promise<void>): Promise<void>;
  /** Creates the instance and scans its QR code through the API. */
  pair(): Promise<void>;
  /** Creates and pairs another instance with its own phone. */
  pairAnother(): Promise<PairedInstance>;
  online(): Promise<void>;
  /** Messages of webhooks with this event, each once, in the order of their arrival. */
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs of the payload
  receivedMessages(event: string): any[];
  end(): Promise<void>;
}

/** `proxyNetwork` returns the URL of a proxy to the network. Outside a test run, pass a database server. */
export async function startWhatsAppStory({
  proxyNetwork = async (url: string) => url,
  env = {},
  server,
}: {
  proxyNetwork?: (url: string) => Promise<string>;
  env?: Record<string, string>;
  server?: string;
} = {}): Promise<WhatsAppStory> {
  const network = await spawnWhatsAppServer(join(packageRoot(), "dist/test/whatsapp-server/process/main.js"));
  const settings = {
    WAYGATE_WHATSAPP_URL: await proxyNetwork(network.url),
    WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
    NODE_EXTRA_CA_CERTS: network.caFile,
    ...env,
  };
  const story = await createE2eStory(settings, server);
  const { phone } = await network.control.addPerson({ phone: newPhone() });
  const instance: PairedInstance = { id: 0, phone, api_key: "" };
  const proxy = await startDatabaseProxy(story.store.url);
  const client = () => story.clientOf(instance);
  const instances = [instance];
  // After a start the row still shows the old status for a moment.
  const isThere = async (number: string) =>
    (await network.control.person(number)).devices.some((device) => device.online);
  const isOnline = async (one: PairedInstance) =>
    (await isThere(one.phone)) && story.isConnected(one).catch(() => false);
  const online = () => waitUntil(async () => (await Promise.all(instances.map(isOnline))).every(Boolean));
  const pair = async (one: PairedInstance): Promise<void> => {
    const owner = await story.signIn();
    const webhook_url = story.receiver.url;
    const { data } = await owner.createInstance({ name: "Sales", network: "whatsapp", webhook_url });
    story.receiver.trust(data.webhook_secret);
    Object.assign(one, { id: data.id, api_key: data.api_key });
    // On a busy machine the first QR code may come after the response.
    let qr: string | null = null;
    await waitUntil(async () => {
      qr = (await story.clientOf(one).connectInstance({ id: one.id })).data.qr_code;
      return qr;
    }, 60_000);
    assert.match(qr ?? "", /https:\/\/wa\.me\//);
    await network.control.scan(one.phone, qr ?? "");
    await online();
  };
  return {
    network,
    story,
    instance,
    client,
    online,
    start: async () => void (await story.start({ DATABASE_URL: proxy.url })),
    async withoutDatabase(work) {
      proxy.cut();
      await work().finally(() => proxy.restore());
    },
    pair: () => pair(instance),
    async pairAnother() {
      const another = { id: 0, phone: newPhone(), api_key: "" };
      await network.control.addPerson({ phone: another.phone });
      instances.push(another);
      await pair(another);
      return another;
    },
    receivedMessages(event) {
      const first = new Map(story.receiver.of(event).map(({ body }) => [body.event_id, body.data.message]));
      return [...first.values()];
    },
    async end() {
      await proxy.close();
      await story.end();
      const unhandled = await network.control.unhandled();
      const { arrivals } = await network.control.ledger();
      await network.close();
      assert.deepEqual(unhandled, []);
      assert.deepEqual(
        arrivals.filter((one) => one.has_reporting),
        [],
      );
    },
  };
}
