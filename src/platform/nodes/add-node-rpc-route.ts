import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Clock, systemClock } from "../clock.ts";
import { GatewayError } from "../gateway-error.ts";
import { NODE_RPC_HEADERS, NODE_RPC_PATH, NOT_OWNED_HERE_STATUS } from "./node-rpc-client.ts";
import {
  decodeMessage,
  encodeMessage,
  isNonce,
  isSignatureValid,
  SIGNATURE_LIFETIME_MS,
  senderProofText,
  signedContentText,
} from "./node-rpc-message.ts";

interface NonceStore {
  /** `full`: the nonce cannot be stored, so the request must be rejected. */
  add(nonce: string): "new" | "seen" | "full";
}

interface NonceStoreOptions {
  clock: Clock;
  /** Shortest time that a nonce is stored; the longest is twice that. */
  retentionMs: number;
  /** Most nonces stored per `retentionMs`. */
  max: number;
}

declare module "fastify" {
  interface FastifyRequest {
    /** When the calling node stops waiting, on this process's clock. */
    callerWaitsUntil: number;
  }
}

/** Means "this node does not have it"; nothing was done. */
export const NOT_OWNED_HERE = Symbol("not here");

/** What other nodes may request from this one, by name. Returns plain data, a stream, or `NOT_OWNED_HERE`. */
export type NodeRpcHandlers = Record<string, (input: never) => Promise<unknown>>;

/** Counts a wrong credential from this address; throws RATE_LIMITED above the limit. */
export type CountUnauthenticated = (ip: string) => void;

export interface NodeRpcRouteOptions {
  secret: string;
  /** URL of this node for other nodes; a request signed for another node is rejected. */
  url: string;
  handlers: NodeRpcHandlers;
  bodyLimitBytes: number;
}

const DEFAULT_TIME_LEFT_MS = 20_000;
/** Most requests in two minutes, about 800 per second; further ones are rejected. */
const MOST_NONCES = 100_000;

/** Serves the requests of other nodes, in its own fastify scope so that their bodies stay unparsed. */
export async function addNodeRpcRoute(
  app: FastifyInstance,
  options: NodeRpcRouteOptions,
  countUnauthenticated: CountUnauthenticated = () => {},
): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "text/plain",
      { parseAs: "string" },
      async (_request: unknown, body: string) => body,
    );
    const { secret, bodyLimitBytes: bodyLimit } = options;
    const nonces = createNonceStore({
      clock: systemClock,
      retentionMs: SIGNATURE_LIFETIME_MS,
      max: MOST_NONCES,
    });
    const identityOf = (request: FastifyRequest) => ({
      target: options.url,
      nonce: headerOf(request, "nonce"),
    });
    const isOfNode = (request: FastifyRequest) =>
      isNonce(headerOf(request, "nonce")) &&
      isSignatureValid(secret, senderProofText(identityOf(request)), headerOf(request, "proof"));
    // The other node has already admitted the request.
    const config = { isExpected: isOfNode };
    scope.decorateRequest("callerWaitsUntil", 0);
    // Reads no body byte of an unauthenticated client.
    scope.addHook("onRequest", async (request, reply) => {
      if (!isOfNode(request)) {
        countUnauthenticated(request.ip);
        return reply.code(401).send();
      }
      const nonce = nonces.add(headerOf(request, "nonce"));
      if (nonce !== "new") return reply.code(nonce === "seen" ? 401 : 503).send();
      request.callerWaitsUntil =
        performance.now() + (Number(headerOf(request, "timeLeft")) || DEFAULT_TIME_LEFT_MS);
    });
    scope.post(NODE_RPC_PATH, { bodyLimit, config }, async (request, reply) => {
      const body = typeof request.body === "string" ? request.body : "";
      const content = signedContentText(identityOf(request), body);
      if (!isSignatureValid(secret, content, headerOf(request, "signature"))) return reply.code(401).send();
      const result = await run(options.handlers, request, body);
      if (result === NOT_OWNED_HERE) return reply.code(NOT_OWNED_HERE_STATUS).send();
      if (result instanceof Readable) return reply.type("application/octet-stream").send(result);
      return reply.type("text/plain").send(encodeMessage(result ?? null));
    });
  });
}

async function run(handlers: NodeRpcHandlers, request: FastifyRequest, body: string): Promise<unknown> {
  const { name, input } = decodeMessage(body) as { name: string; input: never };
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  // An older node does not know the operations of a newer one.
  if (!handler || !(await hasCaller(request))) return NOT_OWNED_HERE;
  return handler(input).catch((cause: unknown) => {
    // A 503 would claim that nothing was done.
    throw new GatewayError("INTERNAL", "The operation failed on the other node.", { cause });
  });
}

/** A request that waited while this process stalled may have a caller that no longer waits. */
async function hasCaller({ callerWaitsUntil, raw: { socket } }: FastifyRequest): Promise<boolean> {
  // A disconnect is read in the turn after the one that read the request.
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  return !socket.destroyed && !socket.readableEnded && performance.now() < callerWaitsUntil;
}

function headerOf({ headers }: FastifyRequest, name: keyof typeof NODE_RPC_HEADERS): string {
  const value = headers[NODE_RPC_HEADERS[name]];
  return typeof value === "string" ? value : "";
}

/** Stores nonces in bounded memory. Never evicts one early, because its request could then be replayed. */
export function createNonceStore({ clock, retentionMs, max }: NonceStoreOptions): NonceStore {
  let recent = new Set<string>();
  let older = new Set<string>();
  let rotatedAt = clock.monotonicMs();

  function rotate(): void {
    const elapsed = clock.monotonicMs() - rotatedAt;
    if (elapsed < retentionMs) return;
    older = elapsed < 2 * retentionMs ? recent : new Set();
    recent = new Set();
    rotatedAt += elapsed;
  }

  return {
    add(nonce) {
      rotate();
      if (recent.has(nonce) || older.has(nonce)) return "seen";
      if (recent.size >= max) return "full";
      recent.add(nonce);
      return "new";
    },
  };
}
