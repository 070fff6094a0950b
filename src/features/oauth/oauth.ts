import type { Db } from "../../platform/db/database.ts";
import { type Handlers, RawResponse } from "../../platform/http/handler.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import type { SignInHandlers } from "../accounts/accounts.ts";
import { assistantHandlers } from "./assistant-handlers.ts";
import { authorizeHandlers } from "./authorize-handlers.ts";
import { CONSENT_STYLE } from "./consent-page.ts";
import { createConsentTickets } from "./consent-tickets.ts";
import type { oauthContract } from "./contract.ts";
import { getTokens, revokeToken } from "./get-tokens.ts";
import { createOAuthClients } from "./oauth-clients.ts";
import { jsonResponse, withOAuthErrors } from "./oauth-error.ts";
import { OAuthFields } from "./oauth-fields.ts";
import { authorizationServerMetadata, oauthAddresses, protectedResourceMetadata } from "./server-metadata.ts";
import type { oauthWireContract } from "./wire-contract.ts";

export interface OAuthDeps {
  db: Db;
  outgoing: Pick<SafeFetch, "fetch">;
  baseUrl: string;
  /** The secret key, and during a key change the second key. */
  secrets: readonly [string, ...string[]];
  signIn: Pick<SignInHandlers, "check" | "rememberDevice">;
}

/** The gateway as an OAuth 2.1 authorization server for the assistants that use /mcp. */
export function oauthHandlers({
  db,
  outgoing,
  baseUrl,
  secrets,
  signIn,
}: OAuthDeps): Handlers<typeof oauthContract & typeof oauthWireContract> {
  const addresses = oauthAddresses(baseUrl);
  const clients = createOAuthClients(db, outgoing);
  const tokens = { db, clients, resource: addresses.resource };
  const protectedResource = async () => jsonResponse(protectedResourceMetadata(addresses));
  return {
    ...assistantHandlers(db),
    ...authorizeHandlers({ db, clients, tickets: createConsentTickets(secrets), addresses, signIn }),
    authorizationServer: async () => jsonResponse(authorizationServerMetadata(addresses)),
    protectedResource,
    protectedResourceOfMcp: protectedResource,

    consentStyle: async () =>
      new RawResponse("text/css; charset=utf-8", CONSENT_STYLE, 200, {
        "cache-control": "public, max-age=300",
      }),

    registerClient: ({ input, ip }) =>
      withOAuthErrors(async () => {
        const { id, name, redirect_uris, created_at } = await clients.register(input, ip);
        const registered = {
          client_id: id,
          client_id_issued_at: Math.floor(created_at.getTime() / 1000),
          client_name: name,
          redirect_uris,
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: "none",
        };
        return jsonResponse(registered, 201);
      }),

    token: ({ input, ...by }) =>
      withOAuthErrors(async () => jsonResponse(await getTokens(tokens, new OAuthFields(input), by))),

    revokeToken: ({ input, ...by }) =>
      withOAuthErrors(async () => {
        await revokeToken(tokens, new OAuthFields(input), by);
        return new RawResponse("text/plain; charset=utf-8", "");
      }),
  };
}
