import { GatewayError } from "../platform/gateway-error.ts";
import type { Caller } from "../platform/http/handler.ts";
import type { AssistantScope } from "../platform/http/route.ts";
import { isAllowed } from "./is-allowed.ts";
import { TOOLS } from "./listed-tools.ts";
import { scopeOf } from "./tool.ts";

interface McpMessage {
  method: string;
  params?: Record<string, unknown> | undefined;
}

/** Throws FORBIDDEN with the missing scope, so that the assistant can ask its user for it. */
export function requireScope(caller: Caller, message: McpMessage, resourceMetadataUrl: string): void {
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
