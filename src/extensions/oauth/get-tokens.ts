import { createHash, timingSafeEqual } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { accountStateSql, digestOAuthToken } from "../../core/accounts/accounts.ts";
import { type AuditActor, recordAudit } from "../../core/audit/audit.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { AssistantScope } from "../../platform/http/route.ts";
import type { OAuthGrantTable } from "../../tables.ts";
import { readScopes, requireResource } from "./authorization-request.ts";
import { type IssuedTokens, issueTokens } from "./issue-tokens.ts";
import type { OAuthClients } from "./oauth-clients.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthFields } from "./oauth-fields.ts";

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export interface TokenDeps {
  db: Db;
  clients: Pick<OAuthClients, "requireKnown">;
  /** The address of /mcp. */
  resource: string;
}

type Grant = Pick<Selectable<OAuthGrantTable>, "id" | "account_id" | "client_id" | "scopes">;

/** Returns tokens for a code or a refresh token. Throws OAuthError. */
export async function getTokens(deps: TokenDeps, fields: OAuthFields, by: AuditActor): Promise<IssuedTokens> {
  const grantType = fields.required("grant_type", 100);
  const client_id = fields.required("client_id", 500);
  if (fields.optional("resource") !== undefined) requireResource(fields, deps.resource);
  await deps.clients.requireKnown(client_id);
  if (grantType === "authorization_code") return exchangeCode(deps.db, client_id, fields, by);
  if (grantType === "refresh_token") return refresh(deps.db, client_id, fields, by);
  throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.");
}

async function exchangeCode(
  db: Db,
  client_id: string,
  fields: OAuthFields,
  by: AuditActor,
): Promise<IssuedTokens> {
  const digest = digestOAuthToken("code", fields.required("code", 200));
  const verifier = fields.required("code_verifier", 200);
  const redirect_uri = fields.optional("redirect_uri");
  const issued = await db.transaction().execute(async (trx) => {
    const code = digest && (await lockCode(trx, digest));
    if (!digest || !code) return undefined;
    const isMisused = code.used_at !== null || code.client_id !== client_id;
    const isOther = redirect_uri !== undefined && redirect_uri !== code.redirect_uri;
    // Whoever has stolen a code gets one attempt, and it ends what the code stands for.
    if (isMisused || isOther || !isVerifier(verifier, code.challenge)) return endGrant(trx, code, by);
    if (code.is_expired || !isActive(code)) return undefined;
    const now = sql<Date>`now()`;
    await trx.updateTable("oauth_code").set({ used_at: now }).where("digest", "=", digest).execute();
    await trx.updateTable("oauth_grant").set({ activated_at: now }).where("id", "=", code.id).execute();
    return issueTokens(trx, code, code.scopes);
  });
  return issued ?? refuseGrant("The code is not valid, has expired or was already used.");
}

async function refresh(
  db: Db,
  client_id: string,
  fields: OAuthFields,
  by: AuditActor,
): Promise<IssuedTokens> {
  const digest = digestOAuthToken("refresh", fields.required("refresh_token", 200));
  const wanted = fields.optional("scope");
  const issued = await db.transaction().execute(async (trx) => {
    const token = digest && (await lockToken(trx, digest));
    if (!digest || token?.kind !== "refresh") return undefined;
    // Either the client or a thief has used it before: neither keeps access.
    if (token.used_at !== null || token.client_id !== client_id) return endGrant(trx, token, by);
    if (token.is_expired || !isActive(token)) return undefined;
    const scopes = narrow(token.scopes, wanted);
    await trx
      .updateTable("oauth_token")
      .set({ used_at: sql<Date>`now()` })
      .where("digest", "=", digest)
      .execute();
    return issueTokens(trx, token, scopes);
  });
  return issued ?? refuseGrant("The refresh token is not valid, has expired or was already used.");
}

/** Revokes a token (RFC 7009): a refresh token with all that follows from it. An unknown one is no error. */
export async function revokeToken(deps: TokenDeps, fields: OAuthFields, by: AuditActor): Promise<void> {
  const text = fields.required("token", 200);
  const client_id = fields.required("client_id", 500);
  await deps.clients.requireKnown(client_id);
  const digest = digestOAuthToken("refresh", text) ?? digestOAuthToken("access", text);
  if (!digest) return;
  await deps.db.transaction().execute(async (trx) => {
    const token = await lockToken(trx, digest);
    if (!token) return;
    if (token.client_id !== client_id)
      throw new OAuthError("unauthorized_client", "The token belongs to another client.");
    if (token.kind === "access") await trx.deleteFrom("oauth_token").where("digest", "=", digest).execute();
    else await endGrant(trx, token, by);
  });
}

function refuseGrant(message: string): never {
  throw new OAuthError("invalid_grant", `${message} Ask the user again.`);
}

/** Deletes a grant with its codes and tokens. */
async function endGrant(trx: Trx, { id, account_id }: Grant, by: AuditActor): Promise<undefined> {
  await trx.deleteFrom("oauth_grant").where("id", "=", id).execute();
  await recordAudit(trx, { by, action: "assistant.revoke", target: { type: "assistant", id }, account_id });
  return undefined;
}

function isVerifier(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  const computed = createHash("sha256").update(verifier).digest();
  const expected = Buffer.from(challenge, "base64url");
  return computed.length === expected.length && timingSafeEqual(computed, expected);
}

function isActive({ status }: { status: string }): boolean {
  return status === "active" || status === "trial";
}

/** The scopes that a refresh asks for: all of the grant, or some of them. Throws invalid_scope. */
function narrow(granted: readonly AssistantScope[], wanted: string | undefined): readonly AssistantScope[] {
  if (wanted === undefined) return granted;
  const scopes = readScopes(wanted);
  if (scopes.every((scope) => granted.includes(scope))) return scopes;
  throw new OAuthError("invalid_scope", `The user has allowed only ${granted.join(", ")}.`);
}

function lockCode(trx: Trx, digest: Buffer) {
  return trx
    .selectFrom("oauth_code as c")
    .innerJoin("oauth_grant as g", "g.id", "c.grant_id")
    .innerJoin("account", "account.id", "g.account_id")
    .select(["g.id", "g.account_id", "g.client_id", "g.scopes"])
    .select(["c.redirect_uri", "c.challenge", "c.used_at"])
    .select([sql<boolean>`c.expires_at < now()`.as("is_expired"), accountStateSql.as("status")])
    .where("c.digest", "=", digest)
    .forUpdate(["c", "g"])
    .executeTakeFirst();
}

function lockToken(trx: Trx, digest: Buffer) {
  return trx
    .selectFrom("oauth_token as t")
    .innerJoin("oauth_grant as g", "g.id", "t.grant_id")
    .innerJoin("account", "account.id", "g.account_id")
    .select(["g.id", "g.account_id", "g.client_id", "g.scopes", "t.kind", "t.used_at"])
    .select([sql<boolean>`t.expires_at < now()`.as("is_expired"), accountStateSql.as("status")])
    .where("t.digest", "=", digest)
    .forUpdate(["t", "g"])
    .executeTakeFirst();
}
