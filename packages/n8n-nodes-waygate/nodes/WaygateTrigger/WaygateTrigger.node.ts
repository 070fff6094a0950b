import { createHmac, timingSafeEqual } from "node:crypto";
import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from "n8n-workflow";
import { EVENT_OPTIONS } from "./event-options.ts";
import { createWebhook, deleteWebhook, findWebhook } from "./manage-webhook.ts";

/** A request as the HTTP server of n8n has received it. */
interface SignedRequest {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw bytes, neither parsed nor serialised again. */
  body: Buffer;
}

/** The largest age, or lead, of a request in seconds. */
const TOLERANCE = 300;

/** Longer than any signature header of the gateway, which has two signatures at most. */
const MAX_HEADER_LENGTH = 4096;

/** What the trigger does with a request. With an event the workflow starts. */
type ReceivedEvent =
  | { status: 200; event: Record<string, unknown> }
  | { status: 200; event?: undefined; message: string }
  | { status: 400 | 401; message: string };

/** Starts the workflow on events of the gateway. It creates and deletes its webhook by itself. */
export class WaygateTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: "Waygate Trigger",
    name: "waygateTrigger",
    icon: { light: "file:waygate.svg", dark: "file:waygate.dark.svg" },
    group: ["trigger"],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: "Starts the workflow when a Waygate gateway receives a message or records another event",
    defaults: { name: "Waygate Trigger" },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: "waygateApi", required: true }],
    webhooks: [{ name: "default", httpMethod: "POST", responseMode: "onReceived", path: "waygate" }],
    properties: [
      {
        displayName: "Events",
        name: "events",
        type: "multiOptions",
        required: true,
        options: EVENT_OPTIONS,
        default: ["message.received"],
        description: "The events that start the workflow",
      },
      {
        displayName: "Ignore",
        name: "exclude",
        type: "multiOptions",
        options: [
          { name: "Messages in Groups", value: "groups" },
          { name: "Messages Sent by the API", value: "sent_by_api" },
          { name: "Own Messages", value: "from_me" },
        ],
        default: [],
        description: "The events of messages that do not start the workflow",
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return findWebhook(this);
      },
      async create(this: IHookFunctions): Promise<boolean> {
        return createWebhook(this);
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        return deleteWebhook(this);
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { rawBody = Buffer.alloc(0), headers } = this.getRequestObject();
    const { secret } = this.getWorkflowStaticData("node");
    const events = this.getNodeParameter("events", []) as string[];
    const received = receiveEvent({ headers, body: rawBody }, String(secret ?? ""), events);
    if (received.status === 200) {
      if (received.event === undefined) return { webhookResponse: { message: received.message } };
      return { workflowData: [this.helpers.returnJsonArray(received.event as IDataObject)] };
    }
    this.getResponseObject().status(received.status).json({ message: received.message });
    return { noWebhookResponse: true };
  }
}

/** Decides what a request is: an event that starts the workflow, another one, or a forgery. */
export function receiveEvent(
  request: SignedRequest,
  secret: string,
  events: readonly string[],
  now = new Date(),
): ReceivedEvent {
  if (!isGenuine(request, secret, now)) {
    return { status: 401, message: "The signature is missing, wrong or too old." };
  }
  const event = parse(request.body);
  if (event === undefined) return { status: 400, message: "The body is not a JSON object." };
  // A test event of the gateway proves that the address is right, and is not what the workflow waits for.
  const isWanted = events.length === 0 || events.includes(String(event.event));
  return isWanted ? { status: 200, event } : { status: 200, message: "The workflow ignores this event." };
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the gateway has signed a request with this secret in the last five minutes. It never throws. */
export function isGenuine({ headers, body }: SignedRequest, secret: string, now = new Date()): boolean {
  if (secret === "") return false;
  const id = readHeader(headers, "webhook-id");
  const sentAt = readHeader(headers, "webhook-timestamp");
  // An id has no dot: it would leave open where the signed time begins.
  if (!/^[\w-]{1,128}$/.test(id) || !/^\d{1,12}$/.test(sentAt)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(sentAt)) > TOLERANCE) return false;
  const expected = createHmac("sha256", keyOf(secret)).update(`${id}.${sentAt}.`).update(body).digest();
  // Whatever separates several signatures: a server may join repeated headers with commas.
  const received = readHeader(headers, "webhook-signature").matchAll(/v1,([A-Za-z0-9+/]{43}=)/g);
  return [...received].some(([, signature = ""]) =>
    timingSafeEqual(Buffer.from(signature, "base64"), expected),
  );
}

/** The value of a header, repeated ones joined; empty if it is absent or too long. */
function readHeader(headers: SignedRequest["headers"], name: string): string {
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name) ?? name;
  const value = headers[key] ?? "";
  const text = typeof value === "string" ? value : value.join(" ");
  return text.length > MAX_HEADER_LENGTH ? "" : text;
}

/** The bytes after `whsec_`; a secret in another format is used unchanged. */
function keyOf(secret: string): Buffer {
  const encoded = secret.replace(/^whsec_/, "");
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return isBase64 ? Buffer.from(encoded, "base64") : Buffer.from(secret, "utf8");
}
