import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { startLocalServer } from "./local-server.ts";

/** A received request. Its signatures are already checked. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs of the payload
  body: any;
  at: number;
  /** Status of a response that was sent completely. */
  responseStatus?: number;
}

type ReceiverResponse = number | ((received: Received, response: ServerResponse) => void | Promise<void>);

/** A webhook receiver that stores all requests and rejects wrong signatures. */
export interface Receiver {
  url: string;
  received: Received[];
  /** Sets the response: a status or a function. */
  respond(how: ReceiverResponse): void;
  /** Adds trusted secrets. */
  trust(...secrets: string[]): void;
  /** Bodies without a trusted signature. */
  readonly forged: string[];
  /** Resolves with the first `count` matching requests, including earlier ones. */
  waitFor(filter: (received: Received) => boolean, count?: number, timeoutMs?: number): Promise<Received[]>;
  of(event: string): Received[];
  /** Stops listening until `open` and keeps the port. */
  shut(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  /** Requests whose signature was valid on arrival. In a long story it expires before the end. */
  const genuine = new Set<Received>();
  const watchers = new Set<() => void>();
  let secrets: string[] = [];
  let behaviour: ReceiverResponse = 200;
  const fits = (item: Received) => secrets.some((secret) => isSigned(item, secret));
  const { url, open, shut } = await startLocalServer(async (request, response) => {
    // An interrupted request does not count.
    const raw = await buffer(request).catch(() => undefined);
    if (!raw) return;
    const { url: path = "", headers } = request;
    const item: Received = { path, headers, raw, body: parse(raw), at: Date.now() };
    received.push(item);
    if (fits(item)) genuine.add(item);
    response.once("finish", () => {
      item.responseStatus = response.statusCode;
    });
    for (const watch of watchers) watch();
    if (typeof behaviour === "number") response.writeHead(behaviour).end("ok");
    else await behaviour(item, response);
  });
  return {
    url: `${url}/hook`,
    received,
    get forged() {
      if (secrets.length === 0) return [];
      return received
        .filter((item) => !genuine.has(item) && !fits(item))
        .map((item) => item.raw.toString("utf8"));
    },
    respond: (how) => {
      behaviour = how;
    },
    trust: (...trusted) => {
      secrets = [...secrets, ...trusted];
    },
    of: (event) => received.filter((item) => item.body?.event === event),
    waitFor(filter, count = 1, timeoutMs = 60_000) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = received.filter(filter);
          if (found.length < count) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(found.slice(0, count));
        };
        const timer = setTimeout(() => {
          watchers.delete(look);
          const seen = received.map((item) => item.body?.event).join(", ");
          reject(new Error(`waited ${timeoutMs} ms for ${count} requests, saw: ${seen || "nothing"}`));
        }, timeoutMs);
        watchers.add(look);
        look();
      });
    },
    open,
    shut,
    close: shut,
  };
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Checks both signatures as a receiver does: ours directly, the standard one with its library. */
export function isSigned(item: Pick<Received, "headers" | "raw">, secret: string): boolean {
  const expected = `sha256=${createHmac("sha256", secret).update(item.raw).digest("hex")}`;
  if (item.headers["x-waygate-signature"] !== expected) return false;
  if (!secret.startsWith("whsec_")) return true;
  try {
    new Webhook(secret).verify(item.raw.toString("utf8"), item.headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
