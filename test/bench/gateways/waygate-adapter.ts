import { randomBytes } from "node:crypto";
import { type Client, createClient } from "../../../src/client/client.ts";
import { openDataDir } from "../../../src/platform/config/data-dir.ts";
import { startEmbeddedPostgres } from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import { createLog } from "../../../src/platform/log/log.ts";
import { findProcessTree } from "../../process-figures.ts";
import {
  type BenchGateway,
  connectInstance,
  makeDataDir,
  removeDataDir,
  startBenchGateway,
} from "../bench-gateway.ts";
import type { BenchNetwork, GatewayAdapter, GatewayUnderTest } from "./gateway-adapter.ts";

/** The built gateway: one node with its own PostgreSQL, or several on one that the bench starts. */
export const adapter: GatewayAdapter = {
  name: "waygate",
  start: (network, { nodes }) => (nodes === 1 ? startOne(network) : startSeveral(network, nodes)),
  toSendRequest: ({ id, key }, number, text, isAsync) => ({
    path: `/api/v1/instances/${id}/send-text`,
    headers: { "x-api-key": key },
    body: JSON.stringify({ number, text, ...(isAsync && { async: true }) }),
  }),
  readInboundText(body) {
    const { event, data } = body as { event?: string; data?: { message?: { text?: string } } };
    return event === "message.received" ? data?.message?.text : undefined;
  },
};

function toSettings({ url, rootKeyHex, caFile }: BenchNetwork): Record<string, string> {
  return {
    WAYGATE_WHATSAPP_URL: url,
    WAYGATE_WHATSAPP_ROOT_KEY: rootKeyHex,
    NODE_EXTRA_CA_CERTS: caFile,
  };
}

async function startOne(network: BenchNetwork): Promise<GatewayUnderTest> {
  const dataDir = await makeDataDir();
  const node = await startBenchGateway(dataDir, undefined, toSettings(network));
  return toGateway([node], dataDir, async () => {
    await node.stop();
    await removeDataDir(dataDir);
  });
}

async function startSeveral(network: BenchNetwork, count: number): Promise<GatewayUnderTest> {
  const databaseDir = await makeDataDir();
  const held = await openDataDir(databaseDir);
  const postgres = await startEmbeddedPostgres({ dataDir: held.path, log: createLog("silent") });
  const settings = { ...toSettings(network), WAYGATE_SECRET_KEY: randomBytes(32).toString("base64") };
  const nodes: BenchGateway[] = [];
  const stop = async (): Promise<void> => {
    for (const node of nodes) await node.stop();
    await postgres.stop();
    await held.release();
    for (const dir of [databaseDir, ...nodes.map(({ dataDir }) => dataDir)]) await removeDataDir(dir);
  };
  try {
    while (nodes.length < count)
      nodes.push(await startBenchGateway(await makeDataDir(), postgres.url, settings));
  } catch (error) {
    await stop();
    throw error;
  }
  return toGateway(nodes, databaseDir, stop);
}

function toGateway(
  nodes: readonly BenchGateway[],
  databaseDir: string,
  stop: () => Promise<void>,
): GatewayUnderTest {
  const [first] = nodes;
  if (!first) throw new Error("A gateway has at least one node.");
  const clients = new Map<string, Client>();
  const clientOf = (key: string): Client => {
    const client = clients.get(key) ?? createClient({ baseUrl: first.url, apiKey: key });
    clients.set(key, client);
    return client;
  };
  return {
    baseUrls: nodes.map(({ url }) => url),
    async createSession() {
      const { data } = await first.owner.createInstance({ name: "Bench", network: "whatsapp" });
      return { id: String(data.id), key: data.api_key };
    },
    async createSandboxSession() {
      const { id, api_key } = await connectInstance(first);
      return { id: String(id), key: api_key };
    },
    async showQr({ id, key }) {
      const { data } = await clientOf(key).connectInstance({ id: Number(id) });
      return data.qr_code ?? "";
    },
    isConnected: async ({ id, key }) =>
      (await clientOf(key).getInstanceStatus({ id: Number(id) })).data.connected,
    async setWebhook({ id, key }, url) {
      await clientOf(key).updateDefaultWebhook({ id: Number(id), url, events: ["message.received"] });
    },
    processes: async () => ({
      gateway: nodes.map(({ pid }) => pid),
      database: await findProcessTree(
        (command) => command.includes("postgres") && command.includes(databaseDir),
      ),
    }),
    stop,
  };
}
