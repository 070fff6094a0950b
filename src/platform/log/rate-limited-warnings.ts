import { type Clock, systemClock } from "../clock.ts";
import { createRateLimiter } from "../limits/rate-limiter.ts";
import type { Log } from "./log.ts";

export interface RateLimitedWarningsOptions<Fields> {
  log: Pick<Log, "warn">;
  clock?: Clock;
  message: string;
  /** The source of the warning; each source has its own budget of lines. */
  sourceOf(fields: Fields): string;
}

const SOURCE_PER_MINUTE = 10;
const ALL_PER_MINUTE = 120;
const MOST_SOURCES = 10_000;

/** Rate-limits warnings that unauthenticated clients can cause; `count` is the number of suppressed events. */
export function createRateLimitedWarnings<Fields extends object>({
  log,
  clock = systemClock,
  message,
  sourceOf,
}: RateLimitedWarningsOptions<Fields>): (fields: Fields) => void {
  const lines = createRateLimiter({ clock, max: MOST_SOURCES });
  let unlogged = 0;
  return (fields) => {
    const { isGranted } = lines.consume([
      { key: `source ${sourceOf(fields)}`, policy: "source", perMinute: SOURCE_PER_MINUTE, cost: 1 },
      { key: "all", policy: "all", perMinute: ALL_PER_MINUTE, cost: 1 },
    ]);
    if (!isGranted) {
      unlogged += 1;
      return;
    }
    const line: object = { ...fields, ...(unlogged > 0 && { count: unlogged }) };
    log.warn(line, message);
    unlogged = 0;
  };
}
