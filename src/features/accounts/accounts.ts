import { type Clock, systemClock } from "../../platform/clock.ts";
import type { Db } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import type { Caller, Handlers } from "../../platform/handler.ts";
import type { AccessControl } from "./authorise.ts";
import type { accountsContract } from "./contract.ts";
import { createSignIn, getUser, toShownUser } from "./sign-in.ts";
import type { Tokens } from "./tokens.ts";

export interface AccountsOptions {
  db: Db;
  tokens: Tokens;
  access: Pick<AccessControl, "forgetSignIns">;
  clock?: Clock;
}

export function accountHandlers(options: AccountsOptions): Handlers<typeof accountsContract> {
  const { db, tokens, access, clock = systemClock } = options;
  const signIn = createSignIn({ db, tokens, clock });

  return {
    login: ({ input, ip }) => signIn.login(input, ip),

    async logout({ caller }) {
      const { sign_in } = requireUser(caller);
      await db.deleteFrom("sign_in").where("id", "=", sign_in).execute();
      access.forgetSignIns([sign_in]);
      return {};
    },

    async me({ caller }) {
      return toShownUser(await getUser(db, requireUser(caller).user_id));
    },

    async changePassword({ input, caller, ip }) {
      const { answer, ended } = await signIn.changePassword(requireUser(caller).user_id, input, ip);
      access.forgetSignIns(ended);
      return answer;
    },
  };
}

/** The signed-in user of an `account` route. */
export function requireUser(caller: Caller): Extract<Caller, { kind: "user" }> {
  if (caller.kind === "user") return caller;
  throw new GatewayError("AUTH_REQUIRED", "This route needs a sign-in.");
}
