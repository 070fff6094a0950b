import { randomUUID } from "node:crypto";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  type Tool as ListedTool,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type Client, createClient } from "../client/client.ts";
import { packageVersion } from "../platform/config/package-version.ts";
import { findOwnInstance } from "./find-own-instance.ts";
import { GROUP_TOOLS } from "./group-tools.ts";
import { PROMPTS } from "./prompts.ts";
import { READ_TOOLS } from "./read-tools.ts";
import { requestWithRetry, type ToolError, toToolError } from "./request-with-retry.ts";
import { RESOURCES } from "./resources.ts";
import { SEND_TOOLS } from "./send-tools.ts";
import { toToolResultText } from "./to-tool-result-text.ts";
import { MissingInstanceError, type Tool } from "./tool.ts";

/** Longer than the gateway's slowest response: a large file that it downloads and then sends. */
const CALL_TIMEOUT_MS = 120_000;

const NOT_FOUND = -32_002;

const TOOLS: readonly Tool[] = [...SEND_TOOLS, ...GROUP_TOOLS, ...READ_TOOLS];

export interface McpOptions {
  baseUrl: string;
  apiKey: string;
  /** The instance for tool calls that name none; undefined means the key's instance. */
  instanceId: number | undefined;
  /** Receives bugs; the assistant gets no details. */
  onBug(error: unknown): void;
}

/** The assistant tools: a stateless client of the HTTP API, so a restart of the gateway does not affect it. */
export function createMcpServer(options: McpOptions): Server {
  const client = createClient(options);
  const server = new Server(
    { name: "waygate", version: packageVersion() },
    { capabilities: { tools: {}, resources: {}, prompts: {} } },
  );
  serveTools(server, client, options);
  serveResources(server, client, options);
  servePrompts(server);
  return server;
}

function serveTools(server: Server, client: Client, options: McpOptions): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(toListed) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    const parsed = tool.input.safeParse(withoutNulls(params.arguments));
    if (!parsed.success) return toError(invalid(parsed.error), options);
    try {
      const result = await callTool(tool, parsed.data, { ...options, client, signal });
      return toResult(toToolResultText(result, { ...options, ...tool }));
    } catch (error) {
      return toError(explain(error, options), options);
    }
  });
}

function toListed({ name, description, kind, input }: Tool): ListedTool {
  return {
    name,
    title: titleOf(name),
    description,
    inputSchema: z.toJSONSchema(input, { io: "input" }) as ListedTool["inputSchema"],
    annotations: {
      readOnlyHint: kind === "read",
      destructiveHint: kind === "remove",
      openWorldHint: true,
    },
  };
}

/** The title that a host shows: "send_message" becomes "Send message". */
function titleOf(name: string): string {
  const title = name.replaceAll("_", " ");
  return `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
}

/** The same result twice: as text for every host, and as an object for hosts that read one. */
function toResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
}

/** Some assistants send null for an absent argument. */
function withoutNulls(toolArguments: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(toolArguments).filter(([, value]) => value !== null));
}

interface ToolRequest {
  client: Client;
  signal: AbortSignal;
  apiKey: string;
  instanceId: number | undefined;
}

async function callTool(
  tool: Tool,
  toolArguments: Record<string, unknown>,
  { client, signal: requestSignal, apiKey, instanceId: standard }: ToolRequest,
): Promise<object> {
  const signal = withTimeoutSignal(requestSignal);
  const run = (instance: number | undefined) => runTool(tool, toolArguments, { client, signal, instance });
  try {
    return await run(standard);
  } catch (error) {
    if (!(error instanceof MissingInstanceError)) throw error;
    const find = () => findOwnInstance(client, { apiKey, options: { signal } });
    const own = await requestWithRetry(find, { isRepeatable: true, signal });
    if (own === undefined) throw error;
    return run(own);
  }
}

function runTool(
  tool: Tool,
  toolArguments: Record<string, unknown>,
  { client, signal, instance }: { client: Client; signal: AbortSignal; instance: number | undefined },
): Promise<object> {
  const context = {
    client,
    standardInstance: instance,
    instanceId: (id = instance) => id ?? missInstance(),
    options: { signal, ...(tool.kind === "send" && { idempotencyKey: `mcp-${randomUUID()}` }) },
  };
  const isRepeatable = tool.kind === "read" || tool.kind === "send";
  return requestWithRetry(() => tool.run(context, toolArguments), { isRepeatable, signal });
}

/** Aborts with the request, or when the gateway takes too long. */
function withTimeoutSignal(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]);
}

function missInstance(): never {
  throw new MissingInstanceError();
}

function explain(error: unknown, { baseUrl, onBug }: McpOptions): ToolError {
  if (error instanceof MissingInstanceError) {
    return refuseArguments([
      {
        field: "instanceId",
        issue: "is required: neither WAYGATE_INSTANCE_ID nor the API key names an instance",
      },
    ]);
  }
  const refusal = toToolError(error, baseUrl);
  if (refusal) return refusal;
  onBug(error);
  return { success: false, code: "INTERNAL", message: "The assistant tools have failed." };
}

function invalid(error: z.ZodError): ToolError {
  return refuseArguments(
    error.issues.map(({ path, message }) => ({ field: path.join("."), issue: message })),
  );
}

function refuseArguments(fields: { field: string; issue: string }[]): ToolError {
  const message = fields.map(({ field, issue }) => `${field}: ${issue}`).join("; ");
  return { success: false, code: "VALIDATION_ERROR", message, details: { fields } };
}

function toError(refusal: ToolError, { apiKey }: McpOptions): CallToolResult {
  return { isError: true, ...toResult(toToolResultText(refusal, { isForeign: false, apiKey })) };
}

function serveResources(server: Server, client: Client, options: McpOptions): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: RESOURCES.map(({ uri, name, description }) => ({
      uri,
      name,
      description,
      mimeType: "application/json",
    })),
  }));
  // Hosts request templates from every server that has resources.
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }, { signal }) => {
    const resource = RESOURCES.find((one) => one.uri === uri);
    if (!resource) throw new McpError(NOT_FOUND, `There is no resource ${uri}.`, { uri });
    try {
      const callOptions = { signal: withTimeoutSignal(signal) };
      const read = () => resource.read(client, callOptions);
      const result = await requestWithRetry(read, { isRepeatable: true, ...callOptions });
      const text = toToolResultText(result, { ...options, ...resource });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    } catch (error) {
      const { code, message, request_id } = explain(error, options);
      throw new McpError(ErrorCode.InternalError, `${code}: ${message}`, { code, request_id });
    }
  });
}

function servePrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: PROMPTS.map(({ name, description, input }) => ({
      name,
      description,
      arguments: Object.entries(input.shape).map(([argument, { description: about }]) => ({
        name: argument,
        description: about,
        required: false,
      })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name);
    if (!prompt) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}.`);
    const parsed = prompt.input.safeParse(params.arguments ?? {});
    if (!parsed.success) throw new McpError(ErrorCode.InvalidParams, invalid(parsed.error).message);
    const text = prompt.write(parsed.data);
    return {
      description: prompt.description,
      messages: [{ role: "user", content: { type: "text", text } }],
    };
  });
}
