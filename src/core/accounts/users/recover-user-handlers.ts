import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { Caller, Handlers } from "../../../platform/http/handler.ts";
import { type AuditActor, recordAudit } from "../../audit/audit.ts";
import type { AccessControl } from "../access/authorise.ts";
import type { accountsContract } from "../contract.ts";
import { generatePassword } from "./create-account.ts";
import { endUserAccess } from "./end-user-access.ts";
import { noUser } from "./get-user.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { requireRank } from "./user-handlers.ts";
import { endWelcome } from "./welcome-link.ts";

interface RecoverDeps {
  db: Db;
  passwords: PasswordHasher;
  access: Pick<AccessControl, "invalidateSignIns">;
}

/** For users who cannot sign in any more: the gateway's owner gives them a new password. */
export function recoverUserHandlers({
  db,
  passwords,
  access,
}: RecoverDeps): Pick<Handlers<typeof accountsContract>, "recoverUser"> {
  return {
    async recoverUser({ input: { id }, ...by }) {
      const password = generatePassword();
      const password_hash = await passwords.hash(password);
      const { user, ended } = await db.transaction().execute(async (trx) => {
        await requireRankOver(trx, by.caller, id);
        return replacePassword(trx, { id, password_hash, by });
      });
      access.invalidateSignIns(ended);
      return { user, password };
    },
  };
}

/** Users recover neither themselves nor a user with a higher role. Throws CONFLICT, FORBIDDEN. */
async function requireRankOver(trx: Trx, caller: Caller, id: number): Promise<void> {
  if (caller.kind !== "user") return;
  if (caller.user_id === id) {
    const sentence = "This is your own user. Change your password with POST /api/auth/password.";
    throw new GatewayError("CONFLICT", sentence);
  }
  const user = await trx
    .selectFrom("account_user")
    .select("role")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  requireRank(caller, user?.role);
}

/** Ends the user's sign-ins and assistants too. Throws NOT_FOUND. */
export async function replacePassword(
  trx: Trx,
  { id, password_hash, by }: { id: number; password_hash: string; by: AuditActor },
) {
  const user = await trx
    .updateTable("account_user")
    .set({ password_hash, must_change_password: true })
    .where("id", "=", id)
    .returning(["id", "account_id", "name", "email", "role", "instance_ids", "must_change_password"])
    .executeTakeFirstOrThrow(noUser);
  const ended = await trx.deleteFrom("sign_in").where("user_id", "=", id).returning("id").execute();
  await endUserAccess(trx, id);
  await endWelcome(trx, id);
  const target = { type: "user", id };
  await recordAudit(trx, { by, action: "user.recover", target, account_id: user.account_id });
  return { user, ended: ended.map((row) => row.id) };
}

/** The users with this e-mail address, of one account if given. */
export function findUsersToRecover(db: Db, { email, account_id }: { email: string; account_id?: number }) {
  let query = db
    .selectFrom("account_user")
    .select(["id", "account_id"])
    .where(sql<string>`lower(email)`, "=", email.toLowerCase())
    .orderBy("id");
  if (account_id !== undefined) query = query.where("account_id", "=", account_id);
  return query.execute();
}
