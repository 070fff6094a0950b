import { createClient } from "../client/client.ts";
import { findOwnInstance } from "./find-own-instance.ts";
import type { McpOptions } from "./mcp-options.ts";

interface RemoteGateway extends Pick<McpOptions, "instanceId" | "onBug"> {
  baseUrl: string;
  apiKey: string;
}

/** Reaches a gateway over the network, with the API key of an instance. */
export function remoteMcpOptions({ apiKey, ...gateway }: RemoteGateway): McpOptions {
  const client = createClient({ baseUrl: gateway.baseUrl, apiKey });
  return {
    ...gateway,
    client,
    scopes: undefined,
    findOwnInstance: (options) => findOwnInstance(client, { apiKey, options }),
  };
}
