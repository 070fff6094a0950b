import type { Db } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import type { Handlers } from "../../../platform/http/handler.ts";
import { recordAudit } from "../../audit/audit.ts";
import { requireActiveAccount } from "../access/authorise.ts";
import { networkOf } from "../access/sign-in-throttle.ts";
import type { accountsContract } from "../contract.ts";
import { findPasswordProblem } from "../users/find-password-problem.ts";
import type { PasswordHasher } from "../users/password-hasher.ts";
import { endWelcome, findWelcomedUser } from "../users/welcome-link.ts";
import type { SignInHandlers } from "./sign-in.ts";
import { getUser, type SignInUser } from "./sign-in-user.ts";

interface WelcomeDeps {
  db: Db;
  passwords: PasswordHasher;
  signIn: SignInHandlers;
}

/** The link that a start prints for the owner: it sets the first password in the browser. */
export function welcomeHandlers(
  deps: WelcomeDeps,
): Pick<Handlers<typeof accountsContract>, "readWelcomeLink" | "setFirstPassword"> {
  return {
    async readWelcomeLink({ input, ip }) {
      const { email } = await checkLink(deps, input.token, ip);
      return { email };
    },

    async setFirstPassword({ input: { token, new_password }, ...by }) {
      const { db, passwords, signIn } = deps;
      const user = await checkLink(deps, token, by.ip);
      const fault = await findPasswordProblem(new_password, [user.email, user.name, user.account_name]);
      if (fault) throw invalidField("new_password", fault.issue, fault.code, fault.params);
      const password_hash = await passwords.hash(new_password);
      const sign_in = await db.transaction().execute(async (trx) => {
        // Two requests with one link: the second waits here, and then finds the link used.
        const { numUpdatedRows } = await trx
          .updateTable("account_user")
          .set({ password_hash, must_change_password: false })
          .where("id", "=", user.id)
          .where("awaits_owner", "=", true)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 0n) throw invalidLink();
        await endWelcome(trx, user.id);
        const id = await signIn.insert(trx, { ...user, password_hash });
        const { id: user_id, account_id, account_type, role, instance_ids } = user;
        const caller = {
          kind: "user",
          user_id,
          account_id,
          account_type,
          role,
          instance_ids,
          sign_in: id,
          is_fresh: true,
        } as const;
        const target = { type: "user", id: user_id };
        await recordAudit(trx, { by: { ...by, caller }, action: "auth.welcome", target, account_id });
        return id;
      });
      return signIn.respond({ ...user, must_change_password: false }, sign_in, by.headers);
    },
  };
}

/** Counts as an attempt to sign in. Throws INVALID_TOKEN, the same for every reason, or RATE_LIMITED. */
async function checkLink({ db, signIn }: WelcomeDeps, token: string, ip: string): Promise<SignInUser> {
  const attempt = await signIn.throttle.begin(`welcome link ${networkOf(ip)}`, { ip });
  let how: "right" | "wrong" | "cancelled" = "cancelled";
  try {
    const id = await findWelcomedUser(db, token);
    how = id === undefined ? "wrong" : "right";
    if (id === undefined) throw invalidLink();
    const user = await getUser(db, id);
    requireActiveAccount(user.status);
    return user;
  } finally {
    await attempt.end(how);
  }
}

function invalidLink(): GatewayError {
  return new GatewayError(
    "INVALID_TOKEN",
    "The link is not valid: it has been used, is older than 24 hours, or somebody has signed in meanwhile. Sign in, or restart the gateway for a new link.",
  );
}
