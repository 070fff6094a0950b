import { type Clock, systemClock } from "./clock.ts";
import type { Log } from "./log.ts";
import { createRateLimiter } from "./rate-limiter.ts";

/** A refusal that an operator may want to look into; `ip` is anonymised. */
export interface Refusal {
  ip: string | undefined;
  method: string;
  route: string;
  status: number;
  code: string | undefined;
  request_id: string;
}

export type NoteRefusal = (refusal: Refusal) => void;

export interface RefusalLogOptions {
  log: Pick<Log, "warn">;
  clock?: Clock;
}

const NETWORK_PER_MINUTE = 10;
const ALL_PER_MINUTE = 120;
const MOST_NETWORKS = 10_000;

/** Warns of refused credentials; a flood of them costs a bounded number of lines, and `count` says how many had none. */
export function createRefusalLog({ log, clock = systemClock }: RefusalLogOptions): NoteRefusal {
  const lines = createRateLimiter({ clock, max: MOST_NETWORKS });
  let unlogged = 0;
  return (refusal) => {
    const { isGranted } = lines.take([
      { key: `network ${refusal.ip}`, policy: "network", perMinute: NETWORK_PER_MINUTE, cost: 1 },
      { key: "all", policy: "all", perMinute: ALL_PER_MINUTE, cost: 1 },
    ]);
    if (!isGranted) {
      unlogged += 1;
      return;
    }
    log.warn({ ...refusal, ...(unlogged > 0 && { count: unlogged }) }, "a caller was refused");
    unlogged = 0;
  };
}
