import type { IHookFunctions } from "n8n-workflow";
import type { GatewayRequest } from "../Waygate/build-request.ts";
import { callGateway } from "../Waygate/call-gateway.ts";
import { GatewayRefusal } from "../Waygate/read-response.ts";
import { toNodeError } from "../Waygate/to-node-error.ts";
import {
  isRegistered,
  type KeptWebhook,
  type ListedWebhook,
  leftovers,
  type WantedWebhook,
} from "./webhook-registration.ts";

/** The gateway's longest name of a webhook. */
const MAX_NAME = 100;

/** Whether the webhook of an earlier activation is still as the trigger wants it; otherwise deletes it. */
export async function findWebhook(context: IHookFunctions): Promise<boolean> {
  const listed = (await request(context, "GET", "")) as ListedWebhook[];
  const kept = context.getWorkflowStaticData("node") as KeptWebhook;
  const wanted = wantedBy(context);
  if (isRegistered(listed, wanted, kept)) return true;
  for (const id of leftovers(listed, wanted, kept)) await request(context, "DELETE", `/${id}`);
  return false;
}

/** Creates the webhook. Only this response has its secret, which n8n then keeps with the workflow. */
export async function createWebhook(context: IHookFunctions): Promise<boolean> {
  const name = `n8n: ${context.getWorkflow().name ?? "workflow"}`.slice(0, MAX_NAME).trim();
  const created = (await request(context, "POST", "", { name, ...wantedBy(context) })) as ListedWebhook;
  const kept = context.getWorkflowStaticData("node") as KeptWebhook;
  kept.webhookId = created.id;
  kept.secret = created.secret;
  return true;
}

/** Deletes the webhook. If the gateway cannot be reached, the next activation deletes it. */
export async function deleteWebhook(context: IHookFunctions): Promise<boolean> {
  const kept = context.getWorkflowStaticData("node") as KeptWebhook;
  if (kept.webhookId === undefined) return true;
  try {
    await request(context, "DELETE", `/${kept.webhookId}`);
  } catch (error) {
    context.logger.warn(`The webhook ${kept.webhookId} was not deleted: ${(error as Error).message}`);
    return false;
  }
  delete kept.webhookId;
  delete kept.secret;
  return true;
}

function wantedBy(context: IHookFunctions): WantedWebhook {
  return {
    url: context.getNodeWebhookUrl("default") ?? "",
    events: context.getNodeParameter("events", []) as string[],
    exclude: context.getNodeParameter("exclude", []) as string[],
  };
}

/** The data of a response about the webhooks of the instance. A webhook that is gone counts as deleted. */
async function request(
  context: IHookFunctions,
  method: GatewayRequest["method"],
  path: string,
  fields?: object,
): Promise<unknown> {
  const { baseUrl, instanceId } = await context.getCredentials("waygateApi");
  try {
    const response = await callGateway(context, String(baseUrl), {
      method,
      path: `/api/v1/instances/${encodeURIComponent(String(instanceId))}/webhooks${path}`,
      headers: { "content-type": "application/json" },
      ...(fields && { body: JSON.stringify(fields) }),
    });
    return response.kind === "json" ? response.data : undefined;
  } catch (error) {
    const isGone = method === "DELETE" && error instanceof GatewayRefusal && error.code === "NOT_FOUND";
    if (isGone) return undefined;
    throw toNodeError(context.getNode(), error);
  }
}
