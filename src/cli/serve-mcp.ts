import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createClient } from "../client/client.ts";
import { findOwnInstance } from "../mcp/find-own-instance.ts";
import type { McpOptions } from "../mcp/mcp-options.ts";
import { createMcpServer } from "../mcp/mcp-server.ts";
import type { Env } from "../platform/config/config.ts";
import { StartError } from "../processes/start-error.ts";
import { readGatewayUrl } from "./read-client-settings.ts";

/** Serves the assistant tools on standard input and output until the input ends. Throws StartError, UsageError. */
export async function serveMcp(env: Env): Promise<void> {
  const options = readOptions(env);
  // The parent process has ended without closing the input.
  process.stdout.once("error", () => process.exit(0));
  serveStdio(() => createMcpServer(options), {
    onerror: (error) => console.error(`Waygate assistant tools: ${error.message}`),
  });
}

function readOptions(env: Env): McpOptions {
  const baseUrl = readGatewayUrl(env, undefined, "WAYGATE_BASE_URL");
  const apiKey = env.WAYGATE_API_KEY?.trim();
  if (!apiKey) throw new StartError("WAYGATE_API_KEY is required: the API key of an instance.");
  const named = env.WAYGATE_INSTANCE_ID?.trim();
  const instanceId = named ? Number(named) : undefined;
  if (instanceId !== undefined && !(Number.isSafeInteger(instanceId) && instanceId > 0)) {
    throw new StartError("WAYGATE_INSTANCE_ID must be the numeric id of an instance.");
  }
  const client = createClient({ baseUrl, apiKey });
  return {
    client,
    baseUrl,
    instanceId,
    scopes: undefined,
    findOwnInstance: (options) => findOwnInstance(client, { apiKey, options }),
    onBug: (error) => console.error(error),
  };
}
