import { timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { accountStateSql, type ConnectedAssistant, planRatesSql } from "../../core/accounts/accounts.ts";
import type { Db } from "../../platform/db/database.ts";

const now = sql<Date>`now()`;

/** What an access token opens now. Never cached. */
export async function findAssistant(db: Db, digest: Buffer): Promise<ConnectedAssistant | undefined> {
  const found = await db
    .selectFrom("oauth_token as t")
    .innerJoin("oauth_grant as g", "g.id", "t.grant_id")
    .innerJoin("account_user as u", (join) =>
      join.onRef("u.id", "=", "g.user_id").onRef("u.account_id", "=", "g.account_id"),
    )
    .innerJoin("account", "account.id", "g.account_id")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .select(["g.id as grant_id", "g.account_id", "g.user_id", "u.role", "t.scopes", "t.digest"])
    .select([accountStateSql.as("account_status"), "plan.features", planRatesSql.as("rates")])
    .select([grantedInstancesSql.as("instance_ids"), isGrantUseStale.as("is_use_stale")])
    .where("t.digest", "=", digest)
    .where("t.kind", "=", "access")
    .where("t.expires_at", ">", now)
    .executeTakeFirst();
  if (!found || !timingSafeEqual(found.digest, digest) || found.instance_ids.length === 0) return undefined;
  const { digest: _, is_use_stale, ...assistant } = found;
  if (is_use_stale) void recordGrantUse(db, assistant.grant_id);
  return assistant;
}

/** What a grant `g` of the user `u` reaches now. */
export const grantedInstancesSql = sql<number[]>`coalesce((
  select json_agg(i.id order by i.id) from instance i
  where i.id = any(g.instance_ids) and i.account_id = g.account_id and i.removed_at is null
    and (u.instance_ids is null or i.id = any(u.instance_ids))), '[]')`;
const isGrantUseStale = sql<boolean>`last_used_at is null or last_used_at < now() - interval '1 minute'`;

/** Not awaited: the request must neither wait nor fail for this. The next use retries. */
async function recordGrantUse(db: Db, id: number): Promise<void> {
  await db
    .updateTable("oauth_grant")
    .set({ last_used_at: now })
    .where("id", "=", id)
    .where(isGrantUseStale)
    .execute()
    .catch(() => {});
}
