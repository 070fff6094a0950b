import { type Client, createClient } from "../../src/client/client.ts";
import { newPhone, startTestGateway, type TestGateway, waitUntil } from "../gateway.ts";
import { inBase64, SAMPLE } from "../sample-files.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../whatsapp-server/server.ts";
import { trustAuthority } from "../whatsapp-stage.ts";

export type NetworkName = "sandbox" | "whatsapp";

/** An instance with its client, which records the requested routes. */
export interface SideInstance {
  readonly id: number;
  readonly client: Client;
}

/** A gateway with an instance on one of the networks, and controls of other people there. */
export interface NetworkSide extends SideInstance {
  readonly gateway: TestGateway;
  readonly phone: string;
  readonly requestedRoutes: ReadonlySet<string>;
  /** Digits of a number without an account on the network. */
  readonly unregisteredPhone: string;
  /** Adds a contact. Returns its digits. */
  addPerson(name: string): Promise<string>;
  /** A contact writes to the instance. Returns the message id. */
  receiveText(from: string, text: string): Promise<string>;
  /** A contact sends a picture to the instance. */
  receivePicture(from: string): Promise<string>;
  /** Somebody votes on a poll of the instance in their own chat. */
  vote(from: string, messageId: string, option: string): Promise<void>;
  /** A contact creates a group with the instance. Returns its jid. */
  addGroup(subject: string, by: string): Promise<string>;
  /** Adds an unpaired instance. */
  addInstance(): Promise<SideInstance>;
  pair(instance: SideInstance): Promise<void>;
  stop(): Promise<void>;
}

export async function startNetworkSide(network: NetworkName): Promise<NetworkSide> {
  const server = network === "whatsapp" ? await startWhatsAppServer() : undefined;
  const env = server && { WAYGATE_WHATSAPP_URL: server.url, WAYGATE_WHATSAPP_ROOT_KEY: server.rootKeyHex };
  const gateway = await startTestGateway(env);
  const requestedRoutes = new Set<string>();
  const addInstance = async () => {
    const { data } = await gateway.owner.createInstance({ name: "Shop", network });
    const client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
    return { id: data.id, client: remembering(client, requestedRoutes) };
  };
  const instance = await addInstance();
  const others = server ? await onWhatsApp(server) : onSandbox(instance);
  await others.pair(instance);
  return {
    gateway,
    requestedRoutes,
    addInstance,
    ...instance,
    ...others,
    async stop() {
      await gateway.stop();
      const unhandled = await server?.control.unhandled();
      await server?.close();
      if (unhandled?.length) throw new Error(`the network did not understand: ${unhandled.join("\n")}`);
    },
  };
}

function remembering(client: Client, requestedRoutes: Set<string>): Client {
  return new Proxy(client, {
    get(methods, name: keyof Client) {
      requestedRoutes.add(name);
      return methods[name];
    },
  });
}

type Others = Pick<
  NetworkSide,
  | "phone"
  | "unregisteredPhone"
  | "addPerson"
  | "receiveText"
  | "receivePicture"
  | "vote"
  | "addGroup"
  | "pair"
>;

function onSandbox({ id, client }: SideInstance): Others {
  const phone = newPhone();
  return {
    phone,
    unregisteredPhone: "5511977770000",
    addPerson: async (name) => {
      const from = newPhone();
      await client.sandboxContact({ id, from, push_name: name });
      return from;
    },
    receiveText: async (from, text) => (await client.sandboxReceive({ id, from, text })).data.message_id,
    async receivePicture(from) {
      const media = { base64: inBase64(SAMPLE.png), mime_type: "image/png" };
      return (await client.sandboxReceive({ id, from, media })).data.message_id;
    },
    async vote(from, message_id, option) {
      await client.sandboxVote({ id, from, message_id, options: [option] });
    },
    addGroup: async (subject, from) => (await client.sandboxGroup({ id, from, subject })).data.jid,
    async pair(instance) {
      await instance.client.sandboxScan({ id: instance.id, phone });
      await connected(instance);
    },
  };
}

async function onWhatsApp({ control, caFile }: WhatsAppServer): Promise<Others> {
  trustAuthority(caFile);
  const { phone } = await control.addPerson({ name: "Shop" });
  const picture = { kind: "media", media_type: "image", mime_type: "image/png", bytes: SAMPLE.png } as const;
  return {
    phone,
    unregisteredPhone: "5511900000000",
    addPerson: async (name) => (await control.addPerson({ name })).phone,
    receiveText: (from, text) => control.sendMessage(from, phone, text),
    receivePicture: (from) => control.sendMessage(from, phone, picture),
    async vote(from, messageId, option) {
      await waitUntil(async () => (await control.message(from, messageId)) !== undefined);
      await control.sendEncryptedChange(from, phone, messageId, { kind: "vote", options: [option] });
    },
    addGroup: async (subject, by) => (await control.addGroup(subject, [by, phone])).jid,
    async pair(instance) {
      const { data } = await instance.client.connectInstance({ id: instance.id, wait_seconds: 60 });
      await control.scan(phone, data.qr_code ?? "");
      await connected(instance);
    },
  };
}

function connected({ id, client }: SideInstance): Promise<void> {
  return waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
}
