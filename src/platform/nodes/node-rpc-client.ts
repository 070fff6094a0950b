import type { Readable } from "node:stream";
import { Agent, request } from "undici";
import {
  decodeMessage,
  encodeMessage,
  newNonce,
  senderProofText,
  signedContentText,
  signMessage,
} from "./node-rpc-message.ts";

/** Path of requests between nodes. */
export const NODE_RPC_PATH = "/internal/calls";
export const NODE_RPC_HEADERS = {
  proof: "x-waygate-cluster-proof",
  signature: "x-waygate-cluster-signature",
  nonce: "x-waygate-cluster-nonce",
  hop: "x-waygate-hop",
  timeLeft: "x-waygate-time-left",
} as const;
/** Means that the node does not have the requested session or file. */
export const NOT_OWNED_HERE_STATUS = 421;

/**
 * Result of a request. `not_here`: nothing was done. `unreachable`: nothing was done if `executed` is false.
 */
export type NodeRpcResult =
  | { outcome: "value"; value: unknown }
  | { outcome: "stream"; body: Readable }
  | { outcome: "not_here" }
  | { outcome: "unreachable"; executed: boolean; reason: string };

export interface NodeRpcRequest {
  /** URL of the other node. */
  url: string;
  name: string;
  input: unknown;
  /** For a whole value, or for the head of a stream. */
  timeoutMs: number;
}

/**
 * Sends requests to other nodes: one hop, signed with the cluster's secret; bytes and dates keep their types.
 */
export interface NodeRpcClient {
  request(rpc: NodeRpcRequest): Promise<NodeRpcResult>;
  close(): Promise<void>;
}

const CONNECT_MS = 3000;
/** Longest time without a byte while the reader wants some. */
const IDLE_MS = 60_000;

export function createNodeRpcClient({ secret }: { secret: string }): NodeRpcClient {
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    keepAliveTimeout: 10_000,
    bodyTimeout: IDLE_MS,
  });
  return {
    request: (rpc) => send(agent, secret, rpc),
    close: () => agent.destroy(),
  };
}

async function send(agent: Agent, secret: string, rpc: NodeRpcRequest): Promise<NodeRpcResult> {
  const { url, name, input, timeoutMs } = rpc;
  const body = encodeMessage({ name, input });
  const identity = { target: url, nonce: newNonce() };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error("the other node did not respond in time")), timeoutMs);
  try {
    const response = await request(new URL(NODE_RPC_PATH, url), {
      method: "POST",
      dispatcher: agent,
      headers: {
        "content-type": "text/plain",
        [NODE_RPC_HEADERS.proof]: signMessage(secret, senderProofText(identity)),
        [NODE_RPC_HEADERS.signature]: signMessage(secret, signedContentText(identity, body)),
        [NODE_RPC_HEADERS.nonce]: identity.nonce,
        [NODE_RPC_HEADERS.hop]: "1",
        [NODE_RPC_HEADERS.timeLeft]: String(timeoutMs),
      },
      body,
      headersTimeout: timeoutMs,
      signal: late.signal,
    });
    return await read(response);
  } catch (error) {
    const { message } = error as Error;
    return { outcome: "unreachable", executed: !wasNeverConnected(error), reason: message };
  } finally {
    // A started stream lasts as long as its reader needs.
    clearTimeout(timer);
  }
}

function wasNeverConnected(error: unknown): boolean {
  // For a name with several addresses.
  if (error instanceof AggregateError) return error.errors.every(wasNeverConnected);
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === "UND_ERR_CONNECT_TIMEOUT" || syscall === "connect" || syscall === "getaddrinfo";
}

async function read({
  statusCode,
  headers,
  body,
}: Awaited<ReturnType<typeof request>>): Promise<NodeRpcResult> {
  if (statusCode === 200 && headers["content-type"] === "application/octet-stream") {
    return { outcome: "stream", body };
  }
  const text = await body.text();
  if (statusCode === 200) return { outcome: "value", value: decodeMessage(text) };
  if (statusCode === NOT_OWNED_HERE_STATUS) return { outcome: "not_here" };
  return {
    outcome: "unreachable",
    // Once the operation runs, every failure is a 500.
    executed: statusCode >= 500 && statusCode !== 503,
    reason: `the other node responded with ${statusCode}`,
  };
}
