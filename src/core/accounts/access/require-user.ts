import { GatewayError } from "../../../platform/gateway-error.ts";
import type { Caller } from "../../../platform/http/handler.ts";

/** The signed-in user of an `account` route. */
export function requireUser(caller: Caller): Extract<Caller, { kind: "user" }> {
  if (caller.kind === "user") return caller;
  throw new GatewayError(
    "AUTH_REQUIRED",
    "This route needs a signed-in user: send the token of POST /api/auth/login as Authorization: Bearer.",
  );
}
