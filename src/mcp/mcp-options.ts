import type { CallOptions, Client } from "../client/client.ts";
import type { AssistantScope } from "../platform/http/route.ts";

/** How the assistant tools reach the gateway, and for whom. */
export interface McpOptions {
  readonly client: Client;
  /** URL of the gateway if requests to it go over the network; undefined inside the gateway. */
  readonly baseUrl: string | undefined;
  /** The instance for tool calls that name none; undefined means the caller's own. */
  readonly instanceId: number | undefined;
  /** The only instance of the caller's key; undefined if there is none. */
  findOwnInstance(options: CallOptions): Promise<number | undefined>;
  /** What a user has allowed the assistant; undefined: everything. */
  readonly scopes: readonly AssistantScope[] | undefined;
  /** Receives bugs; the assistant gets no details. */
  onBug(error: unknown): void;
}
