import { type Client, createClient } from "../../src/client/client.ts";
import { findProcessTree } from "../run/process-figures.ts";
import type { WhatsAppServerProcess } from "../whatsapp-server/process/server-process.ts";
import { makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

/** JSON that goes to another process. */
export interface GatewaySession {
  id: number;
  key: string;
}

/** The built gateway with its own PostgreSQL, on a simulated WhatsApp server. */
export interface MeasuredGateway {
  baseUrl: string;
  createSession(): Promise<GatewaySession>;
  /** The content of a QR code to scan. */
  showQr(session: GatewaySession): Promise<string>;
  isConnected(session: GatewaySession): Promise<boolean>;
  /** Subscribes to inbound messages only. */
  setWebhook(session: GatewaySession, url: string): Promise<void>;
  /** Process ids of the node and its database, each parent first. */
  processes(): Promise<{ gateway: number[]; database: number[] }>;
  stop(): Promise<void>;
}

export async function startMeasuredGateway({
  url,
  rootKeyHex,
  caFile,
}: WhatsAppServerProcess): Promise<MeasuredGateway> {
  const dataDir = await makeDataDir();
  const settings = {
    WAYGATE_WHATSAPP_URL: url,
    WAYGATE_WHATSAPP_ROOT_KEY: rootKeyHex,
    NODE_EXTRA_CA_CERTS: caFile,
  };
  const node = await startBenchGateway(dataDir, { settings });
  const clients = new Map<string, Client>();
  const clientOf = (apiKey: string): Client => {
    const client = clients.get(apiKey) ?? createClient({ baseUrl: node.url, apiKey });
    clients.set(apiKey, client);
    return client;
  };
  const isPostgres = (command: string) => command.includes("postgres") && command.includes(dataDir);
  return {
    baseUrl: node.url,
    async createSession() {
      const { data } = await node.owner.createInstance({ name: "Bench", network: "whatsapp" });
      return { id: data.id, key: data.api_key };
    },
    async showQr({ id, key }) {
      return (await clientOf(key).connectInstance({ id })).data.qr_code ?? "";
    },
    isConnected: async ({ id, key }) => (await clientOf(key).getInstanceStatus({ id })).data.connected,
    async setWebhook({ id, key }, webhookUrl) {
      await clientOf(key).updateDefaultWebhook({ id, url: webhookUrl, events: ["message.received"] });
    },
    processes: async () => ({ gateway: [node.pid], database: await findProcessTree(isPostgres) }),
    async stop() {
      await node.stop();
      await removeDataDir(dataDir);
    },
  };
}
