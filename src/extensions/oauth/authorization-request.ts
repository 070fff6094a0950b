import { ASSISTANT_SCOPES, type AssistantScope } from "../../platform/http/route.ts";
import type { OAuthClient, OAuthClients } from "./oauth-clients.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthFields } from "./oauth-fields.ts";
import { isRegisteredRedirectUri } from "./redirect-uris.ts";

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MOST_STATE_CHARACTERS = 2_000;

/** What a client asks for, after all checks. */
export interface AuthorizationRequest {
  client_id: string;
  redirect_uri: string;
  /** S256. */
  challenge: string;
  state: string | undefined;
  /** All scopes that this gateway knows, if the client names none. */
  scopes: AssistantScope[];
}

/** The client and its redirect address, which must be right before any error may go to that address. */
export interface RedirectTarget {
  client: OAuthClient;
  redirect_uri: string;
  state: string | undefined;
}

/** An error for the client, which gets it at its redirect address if the user goes there. */
export class RedirectedError extends Error {
  override readonly name = "RedirectedError";
  readonly target: RedirectTarget;
  readonly refusal: OAuthError;

  constructor(target: RedirectTarget, refusal: OAuthError) {
    super(refusal.message);
    this.target = target;
    this.refusal = refusal;
  }
}

/**
 * Checks the parameters of an authorization request. Throws OAuthError while the redirect address is not known to be
 * the client's, and RedirectedError afterwards. `resource`: the address of /mcp.
 */
export async function readAuthorizationRequest(
  fields: OAuthFields,
  { clients, resource }: { clients: Pick<OAuthClients, "get">; resource: string },
): Promise<{ request: AuthorizationRequest; client: OAuthClient }> {
  const target = await readTarget(fields, clients);
  const { client, redirect_uri, state } = target;
  try {
    requireCode(fields);
    requireResource(fields, resource);
    const challenge = requireChallenge(fields);
    const scopes = readScopes(fields.optional("scope"));
    return { client, request: { client_id: client.id, redirect_uri, challenge, state, scopes } };
  } catch (error) {
    if (error instanceof OAuthError) throw new RedirectedError(target, error);
    throw error;
  }
}

async function readTarget(fields: OAuthFields, clients: Pick<OAuthClients, "get">): Promise<RedirectTarget> {
  const client = await clients.get(fields.required("client_id", 500));
  const redirect_uri = fields.required("redirect_uri", 2_000);
  if (!isRegisteredRedirectUri(client.redirect_uris, redirect_uri))
    throw new OAuthError(
      "invalid_request",
      "The redirect address is not one of the addresses of this client.",
    );
  return { client, redirect_uri, state: fields.optional("state", MOST_STATE_CHARACTERS) };
}

function requireCode(fields: OAuthFields): void {
  if (fields.required("response_type") !== "code")
    throw new OAuthError("unsupported_response_type", "response_type must be code.");
}

/** Throws invalid_target unless the token is meant for this gateway's /mcp (RFC 8707). */
export function requireResource(fields: OAuthFields, resource: string): void {
  const given = fields.optional("resource");
  if (given !== undefined && URL.canParse(given) && new URL(given).href === new URL(resource).href) return;
  throw new OAuthError("invalid_target", `resource must be ${resource}.`);
}

function requireChallenge(fields: OAuthFields): string {
  const challenge = fields.required("code_challenge");
  if (fields.optional("code_challenge_method") !== "S256" || !CHALLENGE.test(challenge))
    throw new OAuthError("invalid_request", "PKCE with code_challenge_method S256 is required.");
  return challenge;
}

/** The known scopes of a list, without those that the gateway does not know. Throws invalid_scope if none is left. */
export function readScopes(text: string | undefined): AssistantScope[] {
  if (text === undefined) return [...ASSISTANT_SCOPES];
  const wanted = new Set(text.split(" "));
  const known = ASSISTANT_SCOPES.filter((scope) => wanted.has(scope));
  if (known.length === 0)
    throw new OAuthError("invalid_scope", `The scopes are ${ASSISTANT_SCOPES.join(", ")}.`);
  return known;
}

/** The address to which the browser returns, with the result (RFC 9207: and the issuer). */
export function resultUrl(
  { redirect_uri, state }: Pick<RedirectTarget, "redirect_uri" | "state">,
  issuer: string,
  result: { code: string } | { error: string; error_description?: string },
): string {
  const url = new URL(redirect_uri);
  const values = { ...result, ...(state !== undefined && { state }), iss: issuer };
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return url.href;
}
