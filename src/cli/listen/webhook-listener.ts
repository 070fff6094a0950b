import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { verifyWebhook, WebhookVerificationError } from "../../client/client.ts";
import { CommandError } from "../command-error.ts";

/** A request whose signature is valid. */
export interface VerifiedWebhook {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The parsed body: JSON of any shape, since other gateways' formats are signed too. */
  event: unknown;
}

export interface ListenerResponse {
  status: number;
  headers?: Record<string, string>;
  body?: Buffer;
}

export interface WebhookListenerOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The secret of the webhook. */
  secret: string;
  respond(webhook: VerifiedWebhook): Promise<ListenerResponse>;
  /** Receives the reason for every response that is not from `respond`. */
  onRefusal(reason: string): void;
}

export interface WebhookListener {
  /** Its address on this machine, with a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** Four times the largest event. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Together with the largest body, the memory that strangers can fill. */
const MAX_CONNECTIONS = 64;
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16_384,
};
const CLOSE_WITHIN_MS = 2_000;

/** Starts a receiver that verifies every request before it does anything with it. Throws CommandError. */
export async function startWebhookListener(options: WebhookListenerOptions): Promise<WebhookListener> {
  const { host, port, onRefusal } = options;
  const server = createServer(LIMITS, (request, response) => {
    handle(request, response, options).catch((error: unknown) => {
      // A request that was cut off, or a bug: the next request is handled nevertheless.
      onRefusal(error instanceof Error ? error.message : String(error));
      if (!response.headersSent) response.writeHead(500).end();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(explainListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  return {
    url: localUrl(server.address() as AddressInfo),
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, respond, onRefusal }: WebhookListenerOptions,
): Promise<void> {
  const refuse = (status: number, reason: string): void => {
    onRefusal(`${status}: ${reason}`);
    // The rest of the body is not read, so the connection cannot be used again.
    response.writeHead(status, { connection: "close", "content-type": "text/plain" }).end(`${reason}\n`);
  };
  if (request.method !== "POST") return refuse(405, "Only webhooks are received here: send a POST.");
  if (request.headers["webhook-signature"] === undefined)
    return refuse(401, "The request has no webhook-signature, so it is not from the gateway.");
  const body = await readBody(request);
  if (body === undefined) return refuse(413, "The body is larger than 1 MiB.");
  try {
    const event = await verifyWebhook<unknown>({ headers: request.headers, body }, { secret });
    const answer = await respond({ headers: request.headers, body, event });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    refuse(401, error.message);
  }
}

/** Undefined if the body is too large. Rejects if the request was cut off. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const take = (part: Buffer): void => {
      bytes += part.length;
      if (bytes <= MAX_BODY_BYTES) {
        parts.push(part);
        return;
      }
      request.off("data", take).pause();
      resolve(undefined);
    };
    request.on("data", take);
    request.once("end", () => resolve(Buffer.concat(parts)));
    request.once("error", () => reject(new Error("A request was cut off.")));
  });
}

function localUrl({ address, port, family }: AddressInfo): string {
  const isEverywhere = address === "0.0.0.0" || address === "::";
  const host = isEverywhere ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}/`;
}

function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Choose another one with --port.`,
    EACCES: `Port ${port} is not for this user. Choose one from 1024 with --port.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Check --host.`,
    ENOTFOUND: `The name ${host} is not known. Check --host.`,
  };
  const reason = reasons[error.code ?? ""];
  return reason === undefined ? error : new CommandError(reason, { cause: error });
}
