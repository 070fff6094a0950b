import type { Db } from "../../platform/db/database.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { clearSessionCookie } from "../../platform/http/session-cookie.ts";
import { recordAudit } from "../audit/audit.ts";
import type { AccessTokens } from "./access/access-tokens.ts";
import type { AccessControl } from "./access/authorise.ts";
import { requireUser } from "./access/require-user.ts";
import { sessionHeaders } from "./access/session-headers.ts";
import type { accountsContract } from "./contract.ts";
import { managedAccountHandlers } from "./managed-account-handlers.ts";
import { ownAccountHandlers } from "./own-account-handlers.ts";
import { type RemoveAccountDeps, removeAccountHandlers } from "./remove-account-handlers.ts";
import type { SignInHandlers } from "./sign-in/sign-in.ts";
import { getUser, toUserView } from "./sign-in/sign-in-user.ts";
import { welcomeHandlers } from "./sign-in/welcome-handlers.ts";
import type { PasswordHasher } from "./users/password-hasher.ts";
import { recoverUserHandlers } from "./users/recover-user-handlers.ts";
import { userHandlers } from "./users/user-handlers.ts";

export interface AccountHandlersOptions {
  db: Db;
  engine: RemoveAccountDeps["engine"];
  access: Pick<AccessControl, "invalidateSignIns" | "invalidateApiKeys">;
  passwords: PasswordHasher;
  signIn: SignInHandlers;
  tokens: AccessTokens;
  closesThisMachine: boolean;
}

export function accountHandlers(options: AccountHandlersOptions): Handlers<typeof accountsContract> {
  const { db, engine, access, passwords, signIn, tokens, closesThisMachine } = options;

  return {
    ...userHandlers({ db, access, passwords }),
    ...ownAccountHandlers(db),
    ...managedAccountHandlers({ db, passwords, closesThisMachine }),
    ...removeAccountHandlers({ db, engine, access }),
    ...recoverUserHandlers({ db, passwords, access }),
    ...welcomeHandlers({ db, passwords, signIn }),

    login: (request) => signIn.login(request.input, request),

    async logout({ input: _, ...by }) {
      const { sign_in, user_id, account_id, is_panel } = requireUser(by.caller);
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
      return new OkResponse({}, is_panel ? { headers: { "set-cookie": clearSessionCookie() } } : {});
    },

    async startSession({ caller }) {
      const { user_id, sign_in } = requireUser(caller);
      const { lifetimeSeconds: expires_in } = tokens;
      return new OkResponse({ expires_in }, { headers: await sessionHeaders(tokens, { user_id, sign_in }) });
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
