import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.ts";
import { GatewayError } from "../gateway-error.ts";
import { maxEntries } from "./max-entries.ts";

const MINUTE_MS = 60_000;
const REMEMBERED = 10_000;

/**
 * Limits tests, each of which sends a request to an arbitrary address. `what` names what is tested, such as
 * "A webhook". Throws RATE_LIMITED.
 */
export function createFixedWindowLimit(
  perMinute: number,
  what: string,
  clock: Clock = systemClock,
): (id: number) => void {
  const uses = new LRUCache<number, number[]>(maxEntries(REMEMBERED));
  return (id) => {
    const now = clock.monotonicMs();
    const recent = (uses.get(id) ?? []).filter((at) => now - at < MINUTE_MS);
    const [oldest = now] = recent;
    if (recent.length >= perMinute) {
      throw new GatewayError(
        "RATE_LIMITED",
        `${what} can be tested at most ${perMinute} times per minute. Try again in a minute.`,
        { retryAfterSeconds: Math.ceil((oldest + MINUTE_MS - now) / 1000) },
      );
    }
    uses.set(id, [...recent, now]);
  };
}
