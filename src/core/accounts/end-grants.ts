import type { Trx } from "../../platform/db/database.ts";

/** Disconnects all assistants of a user, whose password or role has changed; with the grants end their tokens. */
export async function endGrants(trx: Trx, user_id: number): Promise<void> {
  await trx.deleteFrom("oauth_grant").where("user_id", "=", user_id).execute();
}
