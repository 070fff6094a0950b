import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookRequest,
  WebhookVerificationError,
} from "../../src/client/client.ts";

/** One webhook as received. */
export interface ReceivedWebhook {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  event: ReceivedWebhookEvent;
  /** Whether the signatures are valid: the gateway's own, and that of Standard Webhooks. */
  signed: { own: boolean; standard: boolean };
}

export interface ReceivedWebhookEvent {
  event_id: string;
  event: string;
  sequence: number;
  instance: { id: number; name: string };
  data: { jobId?: string; message?: { text: string | null; direction: string } };
}

/** Plays a customer's receiver: an address that verifies and stores every webhook. */
export interface DemoReceiver {
  url: string;
  delivered: readonly ReceivedWebhook[];
  /** Sets the secret that signs the webhooks of an instance. */
  trust(instanceId: number, secret: string): void;
  /** The first webhook that matches the filter, past ones included; undefined if none arrives in time. */
  find(
    filter: (delivered: ReceivedWebhook) => boolean,
    withinMs: number,
  ): Promise<ReceivedWebhook | undefined>;
  close(): Promise<void>;
}

export async function startDemoReceiver(): Promise<DemoReceiver> {
  const delivered: ReceivedWebhook[] = [];
  const secrets = new Map<string, string>();
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    const raw = await readBody(request);
    const secret = secrets.get(String(request.headers["x-waygate-instance"])) ?? "";
    const signed = await verifySignatures({ headers: request.headers, body: raw }, secret);
    const isGenuine = signed.own && signed.standard;
    response.writeHead(isGenuine ? 204 : 401).end();
    const item = { headers: request.headers, raw, signed, event: JSON.parse(raw.toString("utf8")) };
    delivered.push(item);
    arrivals.emit("arrival");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    delivered,
    trust: (instanceId, secret) => secrets.set(`inst_${instanceId}`, secret),
    async find(filter, withinMs) {
      const timeout = AbortSignal.timeout(withinMs);
      for (;;) {
        const found = delivered.find(filter);
        if (found || timeout.aborted) return found;
        await once(arrivals, "arrival", { signal: timeout }).catch(() => {});
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Checks both signatures of a webhook as a receiver would. */
export async function verifySignatures(
  request: WebhookRequest,
  secret: string,
): Promise<ReceivedWebhook["signed"]> {
  const [own, standard] = await Promise.all([
    isSigned(request, { secret, scheme: "body" }),
    isSigned(request, { secret, scheme: "standard" }),
  ]);
  return { own, standard };
}

async function isSigned(request: WebhookRequest, options: VerifyWebhookOptions): Promise<boolean> {
  // The receiver does not know the secret of this instance yet.
  if (options.secret === "") return false;
  try {
    await verifyWebhook(request, options);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
