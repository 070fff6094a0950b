import type { Caller } from "../../../platform/http/handler.ts";

/** On a `manager` route: the reseller to whose customers the caller is limited; undefined: no such limit. */
export function resellerOf(caller: Caller): number | undefined {
  return caller.kind === "user" && caller.account_type !== "owner" ? caller.account_id : undefined;
}
