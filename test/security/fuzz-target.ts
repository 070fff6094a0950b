import { type Client, createClient } from "../../src/client/client.ts";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, waitUntil } from "../gateway.ts";
import { inBase64, SAMPLE } from "../sample-files.ts";
import { PASSWORD, signIn } from "../sign-in.ts";
import type { KnownValues } from "./json-values.ts";
import type { Operation } from "./operations.ts";

const PERSON = "5511987651234";
const JID = `${PERSON}@s.whatsapp.net`;
/** Nothing listens there, so every fetch fails at once. */
const NOBODY = "http://127.0.0.1:9/x";

/** A tenant with one row of everything, which requests may destroy. */
export interface FuzzTenant {
  token: string;
  key: string;
  instance: number;
  /** An unpaired WhatsApp instance, for its proxy. */
  proxied: number;
  /** Existing values for a request of this operation. */
  knownFor(operation: Operation): KnownValues;
}

export interface FuzzTarget {
  readonly gateway: TestGateway;
  /** A tenant with working credentials and session: the last one, or a new one if requests destroyed it. */
  tenant(): Promise<FuzzTenant>;
  otherTenant(): Promise<FuzzTenant>;
  stop(): Promise<void>;
}

export async function startFuzzTarget({
  allowedHosts = "loopback",
  receiver = NOBODY,
} = {}): Promise<FuzzTarget> {
  const gateway = await startTestGateway({
    WAYGATE_UNKNOWN_RATE: "0",
    WAYGATE_SANDBOX: "on",
    WAYGATE_ALLOWED_HOSTS: allowedHosts,
    WAYGATE_TRUSTED_PROXIES: "127.0.0.1",
  });
  let tenants = 0;
  let current: FuzzTenant | undefined;
  return {
    gateway,
    async tenant() {
      if (current && (await isWhole(gateway, current))) return current;
      tenants += 1;
      current = await makeTenant(gateway, `tenant${tenants}`, receiver);
      return current;
    },
    otherTenant: () => makeTenant(gateway, "other", receiver),
    stop: () => gateway.stop(),
  };
}

async function isWhole({ url }: TestGateway, { token, key, instance: id }: FuzzTenant): Promise<boolean> {
  try {
    await createClient({ baseUrl: url, token }).getInstance({ id });
    return (await createClient({ baseUrl: url, apiKey: key }).getInstanceStatus({ id })).data.connected;
  } catch {
    return false;
  }
}

/** Creates a tenant with one row of everything. */
export async function makeTenant(
  gateway: Pick<TestGateway, "admin" | "url">,
  name: string,
  receiver = NOBODY,
): Promise<FuzzTenant> {
  const email = `boss@${name}.example`;
  const { admin, url } = gateway;
  const plan = (await admin.createPlan({ name: `plan of ${name}` })).data.id;
  await admin.createAccount({ name, email, password: PASSWORD, user_name: name, plan_id: plan });
  const spare = await admin.createAccount({
    name: `spare of ${name}`,
    email: `spare@${name}.example`,
    password: PASSWORD,
    user_name: "Spare",
    plan_id: plan,
  });
  const { client: user, token } = await signIn(url, { email });
  const { data } = await user.createInstance({ name, network: "sandbox" });
  const { id, api_key: key } = data;
  const proxied = (await user.createInstance({ name: `${name} by proxy`, network: "whatsapp" })).data.id;
  const rows = await fillInstance(createClient({ baseUrl: url, apiKey: key }), id, receiver);
  const account = await fillAccount(user, id, name);
  const known = { ...SHARED, ...rows, instance_id: [id], plan_id: [plan], account_id: [spare.data.id] };
  const ids = { ...account, accounts: spare.data.id, plans: plan, instances: id };
  return {
    token,
    key,
    instance: id,
    proxied,
    knownFor: ({ path, parameters }) => {
      const own = rowOf(path, ids) ?? (parameters.some((one) => one.name === "id") ? id : undefined);
      const jid = path.includes("/groups/") ? { jid: known.group_jid } : {};
      return { ...known, ...jid, ...(own !== undefined && { id: [own] }) };
    },
  };
}

/** The id for `{id}`, by the path part before it. */
function rowOf(path: string, ids: Record<string, unknown>): unknown {
  const kind = /\/([a-z-]+)\/\{id\}/.exec(path)?.[1] ?? "";
  return Object.hasOwn(ids, kind) ? ids[kind] : undefined;
}

async function fillInstance(client: Client, id: number, url: string) {
  const webhook = await client.createWebhook({ id, name: "Shop", url });
  await client.sandboxScan({ id });
  await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
  const sent = await client.sendText({ id, jid: JID, text: "Hello" });
  await client.sandboxReceive({
    id,
    from: PERSON,
    push_name: "Ana",
    media: { base64: inBase64(SAMPLE.png) },
  });
  await waitUntil(async () => (await client.listEvents({ id, event: "message.received" })).data.length > 0);
  const [received] = (await client.listMessages({ id, direction: "inbound" })).data;
  const [event] = (await client.listEvents({ id, event: "instance.connected" })).data;
  const group = await client.createGroup({ id, name: "Team", participants: [PERSON] });
  // Nothing listens there, so the test fails, but its attempt is logged.
  await client.testWebhook({ id, webhookId: webhook.data.id }).catch(() => undefined);
  const [log] = (await client.listDeliveryLogs({ id, webhook_id: webhook.data.id })).data;
  const messages = [sent.data.message_id, received?.message_id];
  return {
    messageId: messages,
    message_id: messages,
    reply_to: messages,
    mediaId: [received?.media?.id],
    webhookId: [webhook.data.id],
    webhook_id: [webhook.data.id],
    eventId: [event?.id],
    event_id: [event?.id],
    logId: [log?.id],
    jid: [JID, group.data.jid],
    group_jid: [group.data.jid],
  };
}

async function fillAccount(user: Client, instance_id: number, name: string) {
  const campaign = await user.createCampaign({ name, instance_id, message_template: "Hello" });
  await user.addRecipients({ id: campaign.data.id, numbers: [PERSON] });
  const lead = await user.createLead({ name, phone: PERSON });
  const reply = await user.saveQuickReply({ shortcut: "hi", content: "Hello" });
  const agent = await user.createUser({ name, email: `agent@${name}.example`, password: PASSWORD });
  return {
    campaigns: campaign.data.id,
    leads: lead.data.id,
    "quick-replies": reply.data.id,
    users: agent.data.id,
  };
}

/** Values for every tenant, with short waits. */
const SHARED: KnownValues = {
  number: [PERSON, Number(PERSON)],
  phone: [PERSON],
  from: [PERSON],
  chat: [PERSON],
  numbers: [[PERSON]],
  participants: [[PERSON]],
  recipients: [[PERSON]],
  network: ["sandbox"],
  provider: ["n8n", "typebot", "chatwoot"],
  wait_seconds: [0],
  delay: [0],
  duration_ms: [0],
  limit: [1, 200],
  text: ["Hello"],
  url: [NOBODY, inBase64(SAMPLE.png)],
  webhook_url: [NOBODY],
  media_url: [NOBODY],
  picture_url: [NOBODY],
  base64: [inBase64(SAMPLE.png), inBase64(SAMPLE.opus), inBase64(SAMPLE.mp4)],
};

/** Headers with one of the credentials of an operation. */
export function credentialsFor(
  { credentials }: Operation,
  { token, key }: FuzzTenant,
  nth: number,
): Record<string, string> {
  if (credentials.includes("adminToken")) return { admintoken: ADMIN_TOKEN };
  if (credentials.includes("apiKey") && nth % 2 === 0) return { "x-api-key": key };
  if (credentials.includes("bearer")) return { authorization: `Bearer ${token}` };
  return {};
}
