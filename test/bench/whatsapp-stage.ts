import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../src/client/client.ts";
import { packageRoot } from "../../src/platform/config/package-version.ts";
import type { WhatsAppServer } from "../whatsapp-server/server.ts";
import { spawnWhatsAppServer } from "../whatsapp-server/server-process.ts";
import {
  type BenchGateway,
  type BenchInstance,
  makeDataDir,
  removeDataDir,
  startBenchGateway,
} from "./bench-gateway.ts";

/** The built gateway on a WhatsApp of its own, each in a process of its own. */
export interface WhatsAppBenchStage {
  network: WhatsAppServer;
  readonly gateway: BenchGateway;
  /** A new instance, paired through the API; resolves when it is connected. */
  connect(): Promise<BenchInstance & { phone: string }>;
  /** Stops the gateway in order and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWhatsAppStage(): Promise<WhatsAppBenchStage> {
  const network = await spawnWhatsAppServer(join(packageRoot(), "dist/test/whatsapp-server/main.js"));
  await network.control.settings({ keepLedger: false });
  const dataDir = await makeDataDir();
  const start = () =>
    startBenchGateway(dataDir, {
      settings: {
        WAYGATE_WHATSAPP_URL: network.url,
        WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
        NODE_EXTRA_CA_CERTS: network.caFile,
      },
    });
  let gateway = await start();
  return {
    network,
    get gateway() {
      return gateway;
    },
    async connect() {
      const { phone } = await network.control.addPerson();
      const { data } = await gateway.owner.createInstance({ name: "Bench", network: "whatsapp" });
      const client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
      const { data: connecting } = await client.connectInstance({ id: data.id });
      await network.control.scan(phone, connecting.qr_code ?? "");
      while (!(await client.getInstanceStatus({ id: data.id })).data.connected) await sleep(20);
      return { id: data.id, api_key: data.api_key, client, phone };
    },
    async restart() {
      await gateway.stop();
      gateway = await start();
    },
    async stop() {
      await gateway.stop();
      const unhandled = await network.control.unhandled();
      if (unhandled.length > 0)
        console.log(`the server did not understand: ${unhandled.slice(0, 5).join("; ")}`);
      await network.close();
      await removeDataDir(dataDir);
    },
  };
}
