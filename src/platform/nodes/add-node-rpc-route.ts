import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { systemClock } from "../clock.ts";
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
import { createNonceStore } from "./nonce-store.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** When the node that calls stops waiting, on this process's own clock. */
    callerWaitsUntil: number;
  }
}

/** Stands for "this node does not have it"; nothing was done. */
export const NOT_OWNED_HERE = Symbol("not here");

/** What other nodes may ask of this one, by name: plain data or a stream comes back, or `NOT_HERE`. */
export type NodeRpcHandlers = Record<string, (input: never) => Promise<unknown>>;

/** Takes the address of somebody with a wrong credential; throws RATE_LIMITED when there were too many. */
export type CountUnauthenticated = (ip: string) => void;

export interface NodeRpcRouteOptions {
  secret: string;
  /** Address at which the others call this node: what is signed for another one is refused. */
  url: string;
  handlers: NodeRpcHandlers;
  bodyLimitBytes: number;
}

const DEFAULT_TIME_LEFT_MS = 20_000;
/** Calls in two minutes, about 800 in a second; what is more is refused. */
const MOST_NONCES = 100_000;

/** Takes the calls of other nodes, in a room of its own so that its bodies are read as they are. */
export async function addNodeRpcRoute(
  app: FastifyInstance,
  options: NodeRpcRouteOptions,
  countStranger: CountUnauthenticated = () => {},
): Promise<void> {
  await app.register(async (room) => {
    room.removeAllContentTypeParsers();
    room.addContentTypeParser(
      "text/plain",
      { parseAs: "string" },
      async (_request: unknown, body: string) => body,
    );
    const { secret, bodyLimitBytes: bodyLimit } = options;
    const nonces = createNonceStore({ clock: systemClock, keepMs: SIGNATURE_LIFETIME_MS, max: MOST_NONCES });
    const identityOf = (request: FastifyRequest) => ({
      target: options.url,
      nonce: headerOf(request, "nonce"),
    });
    const isOfNode = (request: FastifyRequest) =>
      isNonce(headerOf(request, "nonce")) &&
      isSignatureValid(secret, senderProofText(identityOf(request)), headerOf(request, "proof"));
    // What another node asks was admitted there.
    const config = { isExpected: isOfNode };
    room.decorateRequest("callerWaitsUntil", 0);
    // Of strangers not a byte of the body is read.
    room.addHook("onRequest", async (request, reply) => {
      if (!isOfNode(request)) {
        countStranger(request.ip);
        return reply.code(401).send();
      }
      const nonce = nonces.add(headerOf(request, "nonce"));
      if (nonce !== "new") return reply.code(nonce === "seen" ? 401 : 503).send();
      request.callerWaitsUntil =
        performance.now() + (Number(headerOf(request, "timeLeft")) || DEFAULT_TIME_LEFT_MS);
    });
    room.post(NODE_RPC_PATH, { bodyLimit, config }, async (request, reply) => {
      const body = typeof request.body === "string" ? request.body : "";
      const content = signedContentText(identityOf(request), body);
      if (!isSignatureValid(secret, content, headerOf(request, "signature"))) return reply.code(401).send();
      const answer = await run(options.handlers, request, body);
      if (answer === NOT_OWNED_HERE) return reply.code(NOT_OWNED_HERE_STATUS).send();
      if (answer instanceof Readable) return reply.type("application/octet-stream").send(answer);
      return reply.type("text/plain").send(encodeMessage(answer ?? null));
    });
  });
}

async function run(handlers: NodeRpcHandlers, request: FastifyRequest, body: string): Promise<unknown> {
  const { name, input } = decodeMessage(body) as { name: string; input: never };
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  // An older node does not know what a newer one asks for.
  if (!handler || !(await isStillWanted(request))) return NOT_OWNED_HERE;
  return handler(input).catch((cause: unknown) => {
    // Something may have been done, which a 503 would deny.
    throw new GatewayError("INTERNAL", "The call failed.", { cause });
  });
}

/** What lay unread while this process stood still may have a caller that has long answered for it. */
async function isStillWanted({ callerWaitsUntil, raw: { socket } }: FastifyRequest): Promise<boolean> {
  // That it has hung up is read in the turn after the one that has read the call.
  for (let turns = 0; turns < 2; turns++) await nextTurn();
  return !socket.destroyed && !socket.readableEnded && performance.now() < callerWaitsUntil;
}

function headerOf({ headers }: FastifyRequest, name: keyof typeof NODE_RPC_HEADERS): string {
  const value = headers[NODE_RPC_HEADERS[name]];
  return typeof value === "string" ? value : "";
}
