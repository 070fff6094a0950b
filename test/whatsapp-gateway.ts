import { type Client, createClient } from "../src/client/client.ts";
import { startTestGateway, type TestGateway, waitUntil } from "./gateway.ts";
import type { WhatsAppControl } from "./whatsapp-server/control.ts";
import { startWhatsAppServer } from "./whatsapp-server/server.ts";
import { trustAuthority } from "./whatsapp-stage.ts";

/** A gateway in this process with a connected instance on a WhatsApp server in this process. */
export interface WhatsAppGateway {
  gateway: TestGateway;
  control: WhatsAppControl;
  instance: { id: number; phone: string; api_key: string; webhook_secret: string; client: Client };
  stop(): Promise<void>;
}

/** The default webhook, if any, receives `message.received` only. */
export async function startWhatsAppGateway(
  webhookUrl?: string,
  env: Record<string, string> = {},
): Promise<WhatsAppGateway> {
  const server = await startWhatsAppServer();
  trustAuthority(server.caFile);
  const { control } = server;
  const gateway = await startTestGateway({
    WAYGATE_WHATSAPP_URL: server.url,
    WAYGATE_WHATSAPP_ROOT_KEY: server.rootKeyHex,
    ...env,
  });
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
    async stop() {
      await gateway.stop();
      await server.close();
    },
  };
}
