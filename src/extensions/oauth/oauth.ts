import { sql } from "kysely";
import { requireUser, type SignInHandlers } from "../../core/accounts/accounts.ts";
import { recordAudit } from "../../core/audit/audit.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse, RawResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { authorizeHandlers } from "./authorize-handlers.ts";
import { CONSENT_STYLE } from "./consent-page.ts";
import { createConsentTickets } from "./consent-tickets.ts";
import type { oauthContract } from "./contract.ts";
import { grantedInstancesSql } from "./find-assistant.ts";
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

/** The assistants of an account: administrators see all, an agent sees its own. */
function assistantHandlers(db: Db): Handlers<typeof oauthContract> {
  return {
    async listAssistants({ input: { limit, cursor, q }, caller }) {
      const { account_id, user_id, role } = requireUser(caller);
      const before = readCursor(cursor);
      let query = selectGrants(db)
        .where("g.account_id", "=", account_id)
        .where(containsText(q, sql`g.client_name, g.redirect_host, u.name`))
        .orderBy("g.id", "desc")
        .limit(limit + 1);
      if (role === "agent") query = query.where("g.user_id", "=", user_id);
      if (before !== undefined) query = query.where("g.id", "<", before);
      const { rows, pagination } = toPage(await query.execute(), limit, ({ id }) => id);
      const shown = rows.map(({ user_id: id, user_name: name, ...row }) => ({ ...row, user: { id, name } }));
      return new OkResponse(shown, { beside: { pagination } });
    },

    async disconnectAssistant({ input: { id }, ...by }) {
      const { account_id, user_id, role } = requireUser(by.caller);
      await db.transaction().execute(async (trx) => {
        let query = trx.deleteFrom("oauth_grant").where("id", "=", id).where("account_id", "=", account_id);
        if (role === "agent") query = query.where("user_id", "=", user_id);
        const removed = await query.returning("id").executeTakeFirst();
        if (!removed) throw new GatewayError("NOT_FOUND", "There is no such assistant.");
        const target = { type: "assistant", id };
        await recordAudit(trx, { by, action: "assistant.revoke", target, account_id });
      });
      return { id };
    },
  };
}

/** Without those whose client has not fetched its tokens yet. */
function selectGrants(db: Db) {
  return db
    .selectFrom("oauth_grant as g")
    .innerJoin("account_user as u", "u.id", "g.user_id")
    .select(["g.id", "g.client_name", "g.client_id", "g.redirect_host", "g.user_id", "u.name as user_name"])
    .select([
      grantedInstancesSql.as("instance_ids"),
      "g.scopes",
      "g.created_at",
      "g.expires_at",
      "g.last_used_at",
    ])
    .where("g.activated_at", "is not", null);
}
