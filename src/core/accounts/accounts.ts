import { GatewayError } from "../../platform/gateway-error.ts";
import type { Caller } from "../../platform/http/handler.ts";

export { requireActiveAccount } from "./access/authorise.ts";
export { type ConnectedAssistant, planRatesSql } from "./access/credential-cache.ts";
export { createOAuthToken, digestOAuthToken } from "./access/oauth-token.ts";
export { lockAccount } from "./account-row.ts";
export { type AccountScope, isInScope } from "./account-scope.ts";
export { accountStateSql } from "./account-state.ts";
export { hasOtherAccounts } from "./has-other-accounts.ts";
export { ACCOUNT_REMOVAL_SCOPE, repeatAccountRemoval } from "./remove-account-handlers.ts";
export type { SignInHandlers } from "./sign-in/sign-in.ts";
export { getUser } from "./users/get-user.ts";

/** The signed-in user of an `account` route. */
export function requireUser(caller: Caller): Extract<Caller, { kind: "user" }> {
  if (caller.kind === "user") return caller;
  throw new GatewayError(
    "AUTH_REQUIRED",
    "This route needs a signed-in user: send the token of POST /api/auth/login as Authorization: Bearer.",
  );
}

/** On a `manager` route: the reseller to whose customers the caller is limited; undefined: no such limit. */
export function resellerOf(caller: Caller): number | undefined {
  return caller.kind === "user" && caller.account_type !== "owner" ? caller.account_id : undefined;
}
