import { sql } from "kysely";
import { accountStateSql, createOAuthToken, digestOAuthToken } from "../../core/accounts/accounts.ts";
import { type AuditActor, recordAudit } from "../../core/audit/audit.ts";
import type { Db } from "../../platform/db/database.ts";
import type { AssistantScope } from "../../platform/http/route.ts";
import { isWithin, type Reach } from "../../platform/reach.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import type { OAuthClient } from "./oauth-clients.ts";

const CODE_SECONDS = 120;
const MOST_INSTANCES = 500;

/** The user of a consent page. */
export type ConsentingUser = NonNullable<Awaited<ReturnType<typeof findConsentingUser>>>;

export function findConsentingUser(db: Db, user_id: number) {
  return db
    .selectFrom("account_user")
    .innerJoin("account", "account.id", "account_user.account_id")
    .select(["account_user.id", "account_user.account_id", "account_user.name", "account_user.role"])
    .select("account_user.instance_ids")
    .select(["account_user.password_hash", "account.name as account_name", accountStateSql.as("status")])
    .where("account_user.id", "=", user_id)
    .executeTakeFirst();
}

/** The instances that a user can choose from, by name; `hasMore`: the list is not complete. */
export async function listChoices(db: Db, reach: Reach) {
  const rows = await db
    .selectFrom("instance")
    .select(["id", "name", "phone"])
    .where("account_id", "=", reach.account_id)
    .where("removed_at", "is", null)
    .where(isWithin(reach, sql.ref("id")))
    .orderBy("name")
    .orderBy("id")
    .limit(MOST_INSTANCES + 1)
    .execute();
  return { instances: rows.slice(0, MOST_INSTANCES), hasMore: rows.length > MOST_INSTANCES };
}

/** What the user has chosen. */
export interface GrantChoice {
  instances: readonly number[];
  scopes: readonly AssistantScope[];
}

interface GrantParts {
  user: ConsentingUser;
  client: OAuthClient;
  request: AuthorizationRequest;
  choice: GrantChoice;
}

/** Stores what the user allows, and returns the code for the client. The caller has checked the choice. */
export async function createGrant(
  db: Db,
  { user, client, request, choice }: GrantParts,
  by: Omit<AuditActor, "caller">,
): Promise<string> {
  const code = createOAuthToken("code");
  const { id: user_id, account_id, role } = user;
  const instance_ids = [...choice.instances];
  const scopes = [...choice.scopes];
  await db.transaction().execute(async (trx) => {
    const { id: grant_id } = await trx
      .insertInto("oauth_grant")
      .values({
        account_id,
        user_id,
        client_id: client.id,
        client_name: client.name,
        redirect_host: hostOf(request.redirect_uri),
        scopes,
        instance_ids,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    await trx
      .insertInto("oauth_code")
      .values({
        digest: digestOAuthToken("code", code) as Buffer,
        grant_id,
        redirect_uri: request.redirect_uri,
        challenge: request.challenge,
        expires_at: sql<Date>`now() + make_interval(secs => ${CODE_SECONDS})`,
      })
      .execute();
    const caller = { kind: "assistant", account_id, user_id, role, grant_id, instance_ids, scopes } as const;
    const target = { type: "assistant", id: grant_id };
    await recordAudit(trx, {
      by: { ...by, caller },
      action: "assistant.grant",
      target,
      account_id,
      fields: scopes,
    });
  });
  return code;
}

function hostOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return protocol === "https:" || protocol === "http:" ? host : protocol;
}
