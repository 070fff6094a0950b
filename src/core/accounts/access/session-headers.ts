import { setSessionCookie } from "../../../platform/http/session-cookie.ts";
import type { AccessTokenClaims, AccessTokens } from "./access-tokens.ts";

/** The headers of a response that keep a sign-in in the panel's cookie. */
export async function sessionHeaders(
  tokens: AccessTokens,
  claims: AccessTokenClaims,
): Promise<Record<string, string>> {
  const token = await tokens.sign(claims, "panel");
  return { "set-cookie": setSessionCookie(token, tokens.lifetimeSeconds) };
}
