import type { DisconnectReason } from "../driver.ts";

/** The code of an end of our own: another process has the pairing, or it is over, and nothing can be kept any more. */
export const PAIRING_LOST_CODE = -1;

/**
 * What follows from the end of a connection. `at_once`: the network wants us anew; `later`: we try again after a while;
 * `replaced`: somebody else has the identity, whom we do not fight; `unlinked`: the identity is void and forgotten;
 * `banned`: it is kept, and nothing helps; `outdated`: the network does not take our version of its client any more.
 */
export type DisconnectAction = "at_once" | "later" | "replaced" | "unlinked" | "banned" | "outdated";

export const TEMPORARY_BAN_CODE = 402;

/** The one table from the network's code to what happens; any other code is `later`. */
const FOLLOWS: Readonly<Record<number, DisconnectAction>> = {
  401: "unlinked",
  [TEMPORARY_BAN_CODE]: "banned",
  403: "banned",
  405: "outdated",
  406: "banned",
  408: "later",
  409: "outdated",
  428: "later",
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
  replaced: "replaced",
};

/** Full jitter: any time up to a limit that doubles with each try. */
export function backoffMs(tries: number, { baseMs, maxMs }: { baseMs: number; maxMs: number }): number {
  return Math.random() * Math.min(maxMs, baseMs * 2 ** tries);
}
