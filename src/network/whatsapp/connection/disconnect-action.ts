import type { DisconnectReason } from "../../driver.ts";

/**
 * Our own close code: another process owns the pairing, or it has ended, and nothing can be stored any more.
 */
export const PAIRING_LOST_CODE = -1;

/**
 * The action after the end of a connection. `at_once`: the network asks for a new connection. `later`: retry
 * after a delay. `limited`: the network limits the connections of this session; retry after a longer delay. `replaced`: another client uses the identity; do not compete. `unlinked`: the identity is
 * void and deleted. `banned`: the identity stays, and a retry is useless. `outdated`: the network rejects our
 * client version.
 */
export type DisconnectAction =
  | "at_once"
  | "later"
  | "limited"
  | "replaced"
  | "unlinked"
  | "banned"
  | "outdated";

export const TEMPORARY_BAN_CODE = 402;

/** The only mapping from the network's codes to actions; any other code is `later`. */
const FOLLOWS: Readonly<Record<number, DisconnectAction>> = {
  401: "unlinked",
  [TEMPORARY_BAN_CODE]: "banned",
  403: "banned",
  405: "outdated",
  406: "banned",
  408: "later",
  409: "outdated",
  428: "later",
  429: "limited",
  440: "replaced",
  500: "later",
  503: "later",
  515: "at_once",
};

export function disconnectActionOf(code: number): DisconnectAction {
  return FOLLOWS[code] ?? "later";
}

export const DISCONNECT_REASONS: Readonly<
  Record<Exclude<DisconnectAction, "unlinked" | "banned" | "outdated">, DisconnectReason>
> = {
  at_once: "restart_required",
  later: "connection_lost",
  limited: "rate_limited",
  replaced: "replaced",
};
