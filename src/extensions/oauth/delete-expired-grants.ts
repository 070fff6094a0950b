import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";

/**
 * Deletes what nobody can use any more: expired codes and tokens, grants without any of them, and registered clients
 * that no user has allowed for a day, or for 90 days after their last use.
 */
export async function deleteExpiredGrants(db: Db): Promise<void> {
  // A used code or refresh token is kept until it expires, so that a second use is noticed.
  await sql`delete from oauth_code where expires_at < now() - interval '1 day'`.execute(db);
  await sql`delete from oauth_token where expires_at < now()`.execute(db);
  await sql`
    delete from oauth_grant g
    where g.created_at < now() - interval '1 day'
      and not exists (select from oauth_token t where t.grant_id = g.id and t.used_at is null)`.execute(db);
  await sql`
    delete from oauth_client c
    where not exists (select from oauth_grant g where g.client_id = c.id)
      and c.created_at < now() - interval '1 day'
      and (c.last_used_at is null or c.last_used_at < now() - interval '90 days')`.execute(db);
}
