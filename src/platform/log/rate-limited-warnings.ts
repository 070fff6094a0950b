import type { Clock } from "../clock.ts";
import { createTokenBuckets } from "../limits/token-bucket.ts";
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

/** Rate-limits warnings that unauthenticated clients can cause; `count` is the number of suppressed events. */
export function createRateLimitedWarnings<Fields extends object>({
  log,
  clock,
  message,
  sourceOf,
}: RateLimitedWarningsOptions<Fields>): (fields: Fields) => void {
  const lines = createTokenBuckets({ clock });
  let unlogged = 0;
  return (fields) => {
    const { isGranted } = lines.consume(
      { key: `source ${sourceOf(fields)}`, perMinute: SOURCE_PER_MINUTE },
      { key: "all", perMinute: ALL_PER_MINUTE },
    );
    if (!isGranted) {
      unlogged += 1;
      return;
    }
    const line: object = { ...fields, ...(unlogged > 0 && { count: unlogged }) };
    log.warn(line, message);
    unlogged = 0;
  };
}
