import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createClient } from "../client/client.ts";
import type { contract } from "../contract.ts";
import { GatewayError } from "../platform/gateway-error.ts";
import { type Caller, type HandlerRequest, RawResponse } from "../platform/http/handler.ts";
import type { AssistantScope } from "../platform/http/route.ts";
import { isAllowed } from "./is-allowed.ts";
import { TOOLS } from "./listed-tools.ts";
import { createMcpServer } from "./mcp-server.ts";
import { scopeOf } from "./tool.ts";

interface McpMessage {
  method: string;
  params?: Record<string, unknown> | undefined;
}

type McpRequest = HandlerRequest<(typeof contract)["mcp"]>;

const STREAM = "text/event-stream";
/** Headers of the request that are part of the protocol. */
const REQUEST_HEADERS = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/** How the gateway is reached from outside. */
export interface PublicAddresses {
  baseUrl: string;
  /** Where an assistant learns how to get a token. */
  resourceMetadataUrl: string;
}

/** Answers one HTTP request of an assistant. Nothing outlives it, so any node can answer the next one. */
export async function serveMcpRequest(
  request: McpRequest,
  { baseUrl, resourceMetadataUrl }: PublicAddresses,
): Promise<RawResponse> {
  refuseOtherOrigins(request, baseUrl);
  requireScope(request.caller, request.input, resourceMetadataUrl);
  const { caller, fetchAsCaller, input, log, signal } = request;
  const onBug = (error: unknown) => log.error({ err: error }, "The assistant tools have failed.");
  const handler = createMcpHandler(() =>
    createMcpServer({
      client: createClient({ baseUrl, fetch: fetchAsCaller }),
      baseUrl: undefined,
      instanceId: undefined,
      findOwnInstance: async () => ownInstanceOf(caller),
      scopes: caller.kind === "assistant" ? caller.scopes : undefined,
      onBug,
    }),
  );
  const url = new URL("/mcp", baseUrl);
  const response = await handler.fetch(
    new Request(url, { method: "POST", headers: protocolHeaders(request), signal }),
    { parsedBody: input },
  );
  return toRawResponse(response);
}

/** The only instance that the caller reaches. */
function ownInstanceOf(caller: Caller): number | undefined {
  if (caller.kind === "key") return caller.instance_id;
  const [only, ...others] = ("instance_ids" in caller && caller.instance_ids) || [];
  return others.length === 0 ? only : undefined;
}

/** A page of another site could otherwise reach a gateway in the browser's own network (DNS rebinding). */
function refuseOtherOrigins({ headers: { origin } }: McpRequest, baseUrl: string): void {
  if (origin === undefined || origin === new URL(baseUrl).origin) return;
  throw new GatewayError(
    "FORBIDDEN",
    "Assistants do not call from web pages. Pages of this gateway's own address (WAYGATE_BASE_URL) are accepted.",
  );
}

/** Every host must read both kinds of response; not every host says so. */
function protocolHeaders({ headers }: McpRequest): Record<string, string> {
  const given = REQUEST_HEADERS.map((name): [string, unknown] => [name, headers[name]]);
  const known = given.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { ...Object.fromEntries(known), accept: `application/json, ${STREAM}` };
}

async function toRawResponse(response: Response): Promise<RawResponse> {
  const { status, headers, body } = response;
  // The confirmation of a notification is empty.
  const type = headers.get("content-type") ?? STREAM;
  if (body === null || !type.startsWith(STREAM)) return new RawResponse(type, await response.text(), status);
  // A proxy must pass on each event at once.
  const unbuffered = { "x-accel-buffering": "no" };
  return new RawResponse(type, Readable.fromWeb(body as ReadableStream), status, unbuffered);
}

/** Throws FORBIDDEN with the missing scope, so that the assistant can ask its user for it. */
function requireScope(caller: Caller, message: McpMessage, resourceMetadataUrl: string): void {
  if (caller.kind !== "assistant") return;
  const scope = scopeOfMessage(message);
  if (isAllowed(caller, scope)) return;
  const wanted = [...caller.scopes, scope].join(" ");
  const challenge = `Bearer error="insufficient_scope", scope="${wanted}", resource_metadata="${resourceMetadataUrl}"`;
  throw new GatewayError("FORBIDDEN", `The user has not allowed the assistant to do this (scope ${scope}).`, {
    details: { scope },
    headers: { "www-authenticate": challenge },
  });
}

function scopeOfMessage({ method, params }: McpMessage): AssistantScope | undefined {
  if (method === "resources/read") return "read";
  const tool = method === "tools/call" ? TOOLS.find(({ name }) => name === params?.name) : undefined;
  return tool && scopeOf(tool);
}
