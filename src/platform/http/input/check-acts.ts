import { GatewayError, notForAgents } from "../../gateway-error.ts";
import type { Caller } from "../handler.ts";
import type { Route } from "../route.ts";
import { readPath } from "./read-path.ts";

/**
 * If the request does what its route declares in `acts`: throws FORBIDDEN for an agent, and PASSWORD_REQUIRED if the
 * sign-in is not fresh.
 */
export function checkActs({ acts = {} }: Route, caller: Caller, input: unknown): void {
  if (caller.kind !== "user" || (caller.is_fresh && caller.role !== "agent")) return;
  if (!Object.values(acts).some((fields) => fields === true || fields.some((field) => gives(input, field))))
    return;
  if (caller.role === "agent") throw notForAgents();
  throw new GatewayError(
    "PASSWORD_REQUIRED",
    "Confirm the password first with POST /api/auth/confirm, then repeat this request within ten minutes.",
  );
}

function gives(input: unknown, field: string): boolean {
  const [path = "", value] = field.split("=");
  const given = readPath(input, path);
  return value === undefined ? given !== undefined : given === value;
}
