import { type Client, createClient } from "../../src/client/client.ts";
import { waitUntil } from "../gateway.ts";
import type { RawHttpResponse } from "../http-requester.ts";
import type { AddressField } from "./address-fields.ts";
import type { FuzzTarget, FuzzTenant } from "./fuzz-target.ts";

export interface SavedAddress {
  target: FuzzTarget;
  tenant: FuzzTenant;
  field: AddressField;
  /** What the gateway said when it saved the address. */
  answer: RawHttpResponse;
}

/** The address of a proxy: only an instance of WhatsApp goes through it. */
export function isProxy({ operation, path }: Pick<AddressField, "operation" | "path">): boolean {
  return path[0] === "proxy" && /Instance$/.test(operation.id);
}

/** Has the gateway call what it has saved, and tells how often. A global webhook is called by every event anyway. */
export async function useSaved(saved: SavedAddress): Promise<number> {
  const { target, tenant, field } = saved;
  const { id: operation } = field.operation;
  // What the administrative token makes belongs to the owner's account.
  const client = field.operation.credentials.includes("adminToken")
    ? target.gateway.owner
    : createClient({ baseUrl: target.gateway.url, token: tenant.token });
  const use = isProxy(field)
    ? useProxy
    : operation === "saveQuickReply"
      ? useQuickReply
      : operation === "saveIntegration"
        ? useIntegration
        : /webhook|instance/i.test(operation) && !/global/i.test(operation)
          ? useWebhooks
          : undefined;
  return (await use?.(client, saved)) ?? 0;
}

async function useProxy(client: Client, { answer: response, tenant }: SavedAddress): Promise<number> {
  const id = Number(response.body.data?.id ?? tenant.proxied);
  const isUsed = await succeeds(client.connectInstance({ id, wait_seconds: 3 }));
  // A busy machine may not have tried yet.
  if (isUsed) await waitUntil(() => hasTried(client, id));
  if (id === tenant.proxied) await succeeds(client.logoutInstance({ id }));
  else await client.deleteInstance({ id });
  return isUsed;
}

async function hasTried(client: Client, id: number): Promise<boolean> {
  const { status, attempts } = (await client.getInstanceStatus({ id })).data;
  return status !== "connecting" || attempts > 0;
}

async function useQuickReply(client: Client, { tenant }: SavedAddress): Promise<number> {
  const id = tenant.instance;
  return succeeds(client.sendText({ id, number: "5511987651234", quick_reply: "forged", async: false }));
}

async function useIntegration(client: Client, { tenant, field }: SavedAddress): Promise<number> {
  const provider = field.provider as "n8n" | "typebot" | "chatwoot";
  return succeeds(client.testIntegration({ id: tenant.instance, provider }));
}

/** Those of a new instance, or those that the tenant has: an instance that was made is removed again. */
async function useWebhooks(
  client: Client,
  { answer: response, tenant, field }: SavedAddress,
): Promise<number> {
  const isNew = field.operation.path === "/api/v1/instances" || field.operation.path === "/instance/create";
  const id = isNew ? Number(response.body.data?.id) : tenant.instance;
  let used = 0;
  for (const webhook of (await client.listWebhooks({ id })).data) {
    used += await succeeds(client.testWebhook({ id, webhookId: webhook.id }));
  }
  if (isNew) await client.deleteInstance({ id });
  return used;
}

/** A refusal is no use of what was saved, but it may have been one of the network: it counts as none. */
async function succeeds(request: Promise<unknown>): Promise<number> {
  return request.then(
    () => 1,
    () => 0,
  );
}
