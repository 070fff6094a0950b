import type { AssistantScope } from "../platform/http/route.ts";
import type { McpOptions } from "./mcp-options.ts";

/** Whether the assistant may use what needs this scope. */
export function isAllowed(
  { scopes }: Pick<McpOptions, "scopes">,
  scope: AssistantScope | undefined,
): boolean {
  return scopes === undefined || scope === undefined || scopes.includes(scope);
}
