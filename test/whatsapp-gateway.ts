import { type Client, createClient } from "../src/client/client.ts";
import { startTestGateway, type TestGateway, waitUntil } from "./gateway.ts";
import type { WhatsAppControl } from "./whatsapp-server/control.ts";
import { startWhatsAppServer, type WhatsAppServer } from "./whatsapp-server/server.ts";
import { trustAuthority } from "./whatsapp-stage.ts";

/** A gateway and a WhatsApp server in this process. */
export interface GatewayOnWhatsApp {
  gateway: TestGateway;
  network: WhatsAppServer;
  /** Fails if the gateway sent something unknown to the server. */
  stop(): Promise<void>;
}

export async function startGatewayOnWhatsApp(env: Record<string, string> = {}): Promise<GatewayOnWhatsApp> {
  const network = await startWhatsAppServer();
  trustAuthority(network.caFile);
  const gateway = await startTestGateway({
    WAYGATE_WHATSAPP_URL: network.url,
    WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
    ...env,
  });
  return {
    gateway,
    network,
    async stop() {
      await gateway.stop();
      const unhandled = await network.control.unhandled();
      await network.close();
      if (unhandled.length > 0) throw new Error(`unknown requests: ${JSON.stringify(unhandled)}`);
    },
  };
}

/** A gateway with a connected instance and a WhatsApp server, all in this process. */
export interface WhatsAppGateway {
  gateway: TestGateway;
  control: WhatsAppControl;
  instance: { id: number; phone: string; api_key: string; webhook_secret: string; client: Client };
  stop(): Promise<void>;
}

/** The default webhook, if any, receives only `message.received`. `prepare` runs before the pairing. */
export async function startWhatsAppGateway(
  webhookUrl?: string,
  env: Record<string, string> = {},
  prepare?: (control: WhatsAppControl) => Promise<void>,
): Promise<WhatsAppGateway> {
  const { gateway, network, stop } = await startGatewayOnWhatsApp(env);
  const { control } = network;
  await prepare?.(control);
  const { phone } = await control.addPerson({ name: "Shop" });
  const { data } = await gateway.owner.createInstance({
    name: "Sales",
    network: "whatsapp",
    ...(webhookUrl && { webhook: { url: webhookUrl, events: ["message.received"] } }),
  });
  const { id, api_key, webhook_secret } = data;
  const client = createClient({ baseUrl: gateway.url, apiKey: api_key });
  let qr: string | null = null;
  await waitUntil(async () => {
    qr = (await client.connectInstance({ id })).data.qr_code;
    return qr;
  });
  await control.scan(phone, qr ?? "");
  await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
  return {
    gateway,
    control,
    instance: { id, phone, api_key, webhook_secret, client },
    stop,
  };
}
