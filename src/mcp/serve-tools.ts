import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import { contract } from "../contract.ts";
import { invalidField } from "../platform/gateway-error.ts";
import { asMeant } from "../platform/http/input/as-meant.ts";
import { createIssueDescriber } from "../platform/http/input/describe-issue.ts";
import { explainUnknownName } from "../platform/http/input/explain-unknown-name.ts";
import { invalidInput } from "../platform/http/input/invalid-input.ts";
import { refuseDifferentAddresses } from "../platform/http/input/refuse-different-addresses.ts";
import { resolveAliases } from "../platform/http/input/resolve-aliases.ts";
import type { Aliases } from "../platform/http/route.ts";
import { isAllowed } from "./is-allowed.ts";
import { listedTools, TOOLS } from "./listed-tools.ts";
import type { McpOptions } from "./mcp-options.ts";
import { callSignal, requestWithRetry } from "./request-with-retry.ts";
import { toToolResultText } from "./to-tool-result-text.ts";
import { MissingInstanceError, scopeOf, type Tool } from "./tool.ts";
import { explainFailure, type ToolError } from "./tool-error.ts";
import { withProgress } from "./with-progress.ts";

/** The names that the routes know beside those of the tools. */
const ALIASES: Aliases = {
  instanceId: ["instance_id"],
  number: ["phone", ...contract.sendText.aliases.number],
  messageId: ["message_id"],
  mediaUrl: ["url", "media_url"],
  mimeType: ["mime_type", "mimetype"],
  fileName: ["file_name", "filename"],
  buttonText: ["button_text"],
  q: ["search", "query"],
};

const LONGEST_NAME = 100;

/** Answers the requests of a host about tools. */
export function serveTools(server: Server, options: McpOptions): void {
  const tools = TOOLS.filter((tool) => isAllowed(options, scopeOf(tool)));
  const names = new Set(tools.map(({ name }) => name));
  server.setRequestHandler("tools/list", () => ({
    tools: listedTools().filter(({ name }) => names.has(name)),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) {
      const message = `There is no tool ${params.name.slice(0, 100)}.`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    try {
      const sent = readArguments(tool, params.arguments ?? {});
      const parsed = tool.input.safeParse(sent, { error: createIssueDescriber() });
      if (!parsed.success) throw invalidInput(parsed.error.issues, sent);
      const { signal } = context.mcpReq;
      const result = await withProgress(context, () => callTool(tool, parsed.data, { ...options, signal }));
      const text = toToolResultText(result, tool);
      return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
    } catch (error) {
      return toError(explainFailure(error, options));
    }
  });
}

/** Text alone: clients compare an object with the output schema of the tool, which no refusal fits. */
function toError(refusal: ToolError): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: toToolResultText(refusal, { isForeign: false }) }],
  };
}

interface ToolRequest extends McpOptions {
  signal: AbortSignal;
}

async function callTool(
  tool: Tool,
  toolArguments: Record<string, unknown>,
  request: ToolRequest,
): Promise<object> {
  const signal = callSignal(request.signal);
  const run = (instance: number | undefined) =>
    runTool(tool, toolArguments, { ...request, signal, instance });
  try {
    return await run(request.instanceId);
  } catch (error) {
    if (!(error instanceof MissingInstanceError)) throw error;
    const find = () => request.findOwnInstance({ signal });
    const own = await requestWithRetry(find, { ...request, isRepeatable: true, signal });
    if (own === undefined) throw error;
    return run(own);
  }
}

function runTool(
  tool: Tool,
  toolArguments: Record<string, unknown>,
  { client, baseUrl, signal, instance }: ToolRequest & { instance: number | undefined },
): Promise<object> {
  const context = {
    client,
    standardInstance: instance,
    instanceId: (id = instance) => id ?? missInstance(),
    options: { signal, ...(tool.kind === "send" && { idempotencyKey: `mcp-${randomUUID()}` }) },
  };
  const isRepeatable = tool.kind === "read" || tool.kind === "send";
  return requestWithRetry(() => tool.run(context, toolArguments), { baseUrl, isRepeatable, signal });
}

function missInstance(): never {
  throw new MissingInstanceError();
}

/**
 * The arguments of a tool under its own names. Throws VALIDATION_ERROR for one that the tool does not have, since it would do
 * something else without it, and for two that name different people.
 */
function readArguments({ name, input }: Tool, sent: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(input.shape);
  const aliases = Object.fromEntries(Object.entries(ALIASES).filter(([field]) => names.includes(field)));
  const others = Object.values(aliases).flat();
  const accepted = new Set([...names, ...others]);
  const unknown = Object.keys(sent).find((field) => !accepted.has(field) && sent[field] !== null);
  if (unknown !== undefined) {
    const field = unknown.slice(0, LONGEST_NAME);
    const known = { one: `an argument of ${name}`, all: "Arguments", names, aliases: others };
    throw invalidField(field, explainUnknownName(field, known), "unknown_field");
  }
  if (aliases.number)
    refuseDifferentAddresses({ aliases: { number: ["jid", ...aliases.number] } }, (field) => sent[field]);
  return asMeant(input, resolveAliases(sent, aliases, input), "POST");
}
