import { sql } from "kysely";
import { createOAuthToken, digestOAuthToken } from "../../core/accounts/accounts.ts";
import type { Trx } from "../../platform/db/database.ts";
import type { AssistantScope } from "../../platform/http/route.ts";

const ACCESS_SECONDS = 3_600;
/** An assistant that is not used for so long has to ask again. */
export const IDLE_DAYS = 30;
/** How long an assistant keeps access without asking again; the schema has it as a default. */
export const GRANT_DAYS = 90;
const REFRESH_SECONDS = IDLE_DAYS * 86_400;

/** The response of the token endpoint. */
export interface IssuedTokens {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** `scopes`: of the access token; a refresh token keeps all of the grant. No token outlives the grant. */
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
  const lifetimes = { access: 0, refresh: 0 };
  for (const { kind, text, scopes: allowed, seconds } of tokens) {
    const { lifetime } = await trx
      .insertInto("oauth_token")
      .values({
        digest: digestOAuthToken(kind, text) as Buffer,
        grant_id: grant.id,
        kind,
        scopes: [...allowed],
        expires_at: sql<Date>`least(now() + make_interval(secs => ${seconds}),
          (select expires_at from oauth_grant where id = ${grant.id}))`,
      })
      .returning(sql<number>`floor(extract(epoch from expires_at - now()))::int`.as("lifetime"))
      .executeTakeFirstOrThrow();
    lifetimes[kind] = lifetime;
  }
  const scope = scopes.join(" ");
  return { access_token, token_type: "Bearer", expires_in: lifetimes.access, refresh_token, scope };
}
