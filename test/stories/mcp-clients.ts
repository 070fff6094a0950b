import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** The official client in the versions that hosts use, each with its protocol version. */
export const MCP_CLIENTS = ["1.x", "2.x of 2025", "2.x of 2026"] as const;
export type McpClientKind = (typeof MCP_CLIENTS)[number];

/** A server URL, or a command of the built program. */
export type McpServerPlace =
  | { url: URL; headers: Record<string, string> }
  | { command: string; args: string[]; env: Record<string, string> };

const INFO = { name: "test", version: "1" };

/** Connects and lists the tools, after which the client validates results against their output schemas. */
export async function connectMcpClient(kind: McpClientKind, place: McpServerPlace): Promise<Client> {
  const client = kind === "1.x" ? await connectFirst(place) : await connectSecond(kind, place);
  await client.listTools();
  return client;
}

async function connectFirst(place: McpServerPlace): Promise<Client> {
  const client = new FirstClient(INFO);
  const transport =
    "url" in place
      ? new FirstHttp(place.url, { requestInit: { headers: place.headers } })
      : new FirstStdio({ ...place, stderr: "ignore" });
  await client.connect(transport as Parameters<FirstClient["connect"]>[0]);
  // The stories use only the common API of both versions.
  return client as unknown as Client;
}

async function connectSecond(kind: McpClientKind, place: McpServerPlace): Promise<Client> {
  const mode = kind === "2.x of 2025" ? "legacy" : { pin: "2026-07-28" };
  const client = new Client(INFO, { versionNegotiation: { mode } });
  await client.connect(
    "url" in place
      ? new StreamableHTTPClientTransport(place.url, { requestInit: { headers: place.headers } })
      : new StdioClientTransport({ ...place, stderr: "ignore" }),
  );
  return client;
}

export interface ToolResult {
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads only the fields of the result that it needs
  result: any;
}

/** Calls a tool and returns its text, which every host shows. */
export async function askTool(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
): Promise<ToolResult> {
  const { isError = false, content } = await client.callTool({ name, arguments: input });
  const [{ text = "" } = {}] = content as { text?: string }[];
  return { isError: isError === true, result: JSON.parse(text) };
}
