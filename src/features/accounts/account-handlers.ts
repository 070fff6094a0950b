import type { Db } from "../../platform/db/database.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { recordAudit } from "../audit/audit.ts";
import { requireUser } from "./accounts.ts";
import type { AccessControl } from "./authorise.ts";
import type { accountsContract } from "./contract.ts";
import { managedAccountHandlers } from "./managed-account-handlers.ts";
import { ownAccountHandlers } from "./own-account-handlers.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { recoverUserHandlers } from "./recover-user-handlers.ts";
import { type RemoveAccountDeps, removeAccountHandlers } from "./remove-account-handlers.ts";
import { getUser, type SignInHandlers, toUserView } from "./sign-in.ts";
import { userHandlers } from "./user-handlers.ts";

export interface AccountHandlersOptions {
  db: Db;
  engine: RemoveAccountDeps["engine"];
  access: Pick<AccessControl, "invalidateSignIns" | "invalidateApiKeys">;
  passwords: PasswordHasher;
  signIn: SignInHandlers;
}

export function accountHandlers(options: AccountHandlersOptions): Handlers<typeof accountsContract> {
  const { db, engine, access, passwords, signIn } = options;

  return {
    ...userHandlers({ db, access, passwords }),
    ...ownAccountHandlers(db),
    ...managedAccountHandlers({ db, passwords }),
    ...removeAccountHandlers({ db, engine, access }),
    ...recoverUserHandlers({ db, passwords, access }),

    login: (request) => signIn.login(request.input, request),

    async logout({ input: _, ...by }) {
      const { sign_in, user_id, account_id } = requireUser(by.caller);
      await db.transaction().execute(async (trx) => {
        await trx.deleteFrom("sign_in").where("id", "=", sign_in).execute();
        await recordAudit(trx, {
          by,
          action: "auth.logout",
          target: { type: "user", id: user_id },
          account_id,
        });
      });
      access.invalidateSignIns([sign_in]);
      return {};
    },

    async me({ caller }) {
      return toUserView(await getUser(db, requireUser(caller).user_id));
    },

    async confirmPassword(request) {
      const caller = requireUser(request.caller);
      await signIn.confirm(request.input, { ...request, caller });
      access.invalidateSignIns([caller.sign_in]);
      return {};
    },

    async changePassword(request) {
      const caller = requireUser(request.caller);
      const { response: answer, ended } = await signIn.changePassword(request.input, { ...request, caller });
      access.invalidateSignIns(ended);
      return answer;
    },
  };
}
