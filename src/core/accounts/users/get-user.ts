import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";

/** The users of an account. */
export function selectUsers(db: Db | Trx, account_id: number) {
  return db
    .selectFrom("account_user")
    .select(["id", "name", "email", "role", "instance_ids", "must_change_password", "created_at"])
    .where("account_id", "=", account_id);
}

/** Throws NOT_FOUND, also for a user of another account. */
export async function getUser(db: Db | Trx, account_id: number, id: number) {
  return selectUsers(db, account_id).where("id", "=", id).executeTakeFirstOrThrow(noUser);
}

export function noUser(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such user.");
}
