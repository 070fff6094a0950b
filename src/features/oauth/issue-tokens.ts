import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import type { AssistantScope } from "../../platform/http/route.ts";
import { createOAuthToken, digestOAuthToken } from "../accounts/accounts.ts";

const ACCESS_SECONDS = 3_600;
/** An assistant that is not used for so long has to ask again. */
const REFRESH_SECONDS = 30 * 86_400;

/** The response of the token endpoint. */
export interface IssuedTokens {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** `scopes`: of the access token; a refresh token keeps all of the grant. */
export async function issueTokens(
  trx: Trx,
  grant: { id: number; scopes: readonly AssistantScope[] },
  scopes: readonly AssistantScope[],
): Promise<IssuedTokens> {
  const access_token = createOAuthToken("access");
  const refresh_token = createOAuthToken("refresh");
  const tokens = [
    { kind: "access", text: access_token, scopes, seconds: ACCESS_SECONDS },
    { kind: "refresh", text: refresh_token, scopes: grant.scopes, seconds: REFRESH_SECONDS },
  ] as const;
  for (const { kind, text, scopes: allowed, seconds } of tokens)
    await trx
      .insertInto("oauth_token")
      .values({
        digest: digestOAuthToken(kind, text) as Buffer,
        grant_id: grant.id,
        kind,
        scopes: [...allowed],
        expires_at: sql<Date>`now() + make_interval(secs => ${seconds})`,
      })
      .execute();
  const scope = scopes.join(" ");
  return { access_token, token_type: "Bearer", expires_in: ACCESS_SECONDS, refresh_token, scope };
}
