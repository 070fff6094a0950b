import { randomBytes } from "node:crypto";
import { type Client, createClient } from "../../../src/client/client.ts";
import { openDatabase } from "../../../src/platform/db/database.ts";
import { findRunningDatabase } from "../../../src/platform/embedded-postgres/embedded-postgres.ts";
import { findProcessTree } from "../../process-figures.ts";
import { startBenchDatabase } from "../bench-database.ts";
import {
  type BenchGateway,
  connectInstance,
  makeDataDir,
  removeDataDir,
  startBenchGateway,
} from "../bench-gateway.ts";
import type { GatewayProgram } from "../gateway-program.ts";
import {
  PROFILE_SETTINGS,
  type ProfiledDatabase,
  writeProfileSettings,
} from "../profile/database-recorder.ts";
import { recordGateway } from "../profile/gateway-profile.ts";
import { seedLog } from "../seed-log.ts";
import type { BenchNetwork, GatewayAdapter, GatewayStart, GatewayUnderTest } from "./gateway-adapter.ts";

const STORED_CHATS = 5_000;

/** The built gateway: one node with its own PostgreSQL, or several on one that the bench starts. */
export const adapter: GatewayAdapter = {
  name: "waygate",
  start: (network, options) =>
    options.nodes === 1 ? startOne(network, options.program) : startSeveral(network, options),
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

async function startOne(network: BenchNetwork, program: GatewayProgram): Promise<GatewayUnderTest> {
  const dataDir = await makeDataDir();
  if (program.isProfiled) {
    // Its database must exist before it can have settings.
    const first = await startBenchGateway(dataDir, { program: { ...program, isProfiled: false } });
    await first.stop();
    await writeProfileSettings(dataDir);
  }
  const node = await startBenchGateway(dataDir, { settings: toSettings(network), program });
  const url = await findRunningDatabase(dataDir);
  if (url === undefined) throw new Error(`The gateway of ${dataDir} runs without its database.`);
  return toGateway([node], { url, dataDir }, async () => {
    await node.stop();
    await removeDataDir(dataDir);
  });
}

async function startSeveral(
  network: BenchNetwork,
  { nodes: count, program }: GatewayStart,
): Promise<GatewayUnderTest> {
  const database = await startBenchDatabase(program.isProfiled ? PROFILE_SETTINGS : {});
  const settings = { ...toSettings(network), WAYGATE_SECRET_KEY: randomBytes(32).toString("base64") };
  const nodes: BenchGateway[] = [];
  const stop = async (): Promise<void> => {
    for (const node of nodes) await node.stop();
    await database.stop();
    for (const { dataDir } of nodes) await removeDataDir(dataDir);
  };
  try {
    while (nodes.length < count) {
      const dataDir = await makeDataDir();
      nodes.push(await startBenchGateway(dataDir, { databaseUrl: database.url, settings, program }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return toGateway(nodes, database, stop);
}

function toGateway(
  nodes: readonly BenchGateway[],
  database: ProfiledDatabase,
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
        (command) => command.includes("postgres") && command.includes(database.dataDir),
      ),
    }),
    storeMessages: ({ id }, count) => storeMessages(database.url, Number(id), count),
    ...(first.cpuRecorder && { record: () => recordGateway(nodes, database) }),
    stop,
  };
}

async function storeMessages(url: string, instance: number, messages: number): Promise<void> {
  const database = openDatabase(url, { max: 1, application_name: "bench" });
  try {
    await seedLog(database, { instance, messages, chats: STORED_CHATS });
    await database.pool.query("vacuum analyze");
  } finally {
    await database.close();
  }
}
