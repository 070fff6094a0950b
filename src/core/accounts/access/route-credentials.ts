import { GatewayError } from "../../../platform/gateway-error.ts";
import type { Credential } from "../../../platform/http/handler.ts";
import type { Route, RouteAccess } from "../../../platform/http/route.ts";

const CREDENTIALS: Record<Exclude<RouteAccess, "public">, readonly (keyof typeof NEEDED)[]> = {
  account: ["bearer"],
  instance: ["key", "bearer"],
  key: ["key", "bearer"],
  key_or_admin: ["key", "admin"],
  admin: ["admin"],
  owner: ["bearer", "admin"],
  manager: ["bearer", "admin"],
};

/** The panel may do what its user may. It is no assistant. */
export function isCredentialFor(
  { assistants }: Route,
  access: Exclude<RouteAccess, "public">,
  { kind }: Credential,
): boolean {
  if (kind === "session") return CREDENTIALS[access].includes("bearer") && assistants !== "directly";
  return CREDENTIALS[access].some((known) => known === kind);
}

const NEEDED: Record<Exclude<Credential["kind"], "session">, string> = {
  key: "an API key (x-api-key)",
  bearer: "the token of a sign-in (Authorization: Bearer)",
  admin: "the administrative token (admintoken)",
};

export function authRequired(access: Exclude<RouteAccess, "public">): GatewayError {
  const needed = CREDENTIALS[access].map((kind) => NEEDED[kind]).join(" or ");
  return new GatewayError("AUTH_REQUIRED", `This route needs ${needed}.`);
}
