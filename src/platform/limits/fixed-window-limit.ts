import { GatewayError } from "../gateway-error.ts";

const MINUTE_MS = 60_000;
const REMEMBERED = 10_000;

/**
 * Limits tests, each of which sends a request to an arbitrary address. `what` names what is tested, such as
 * "A webhook". Throws RATE_LIMITED.
 */
export function createFixedWindowLimit(perMinute: number, what: string): (id: number) => void {
  const uses = new Map<number, number[]>();
  return (id) => {
    const now = performance.now();
    const recent = (uses.get(id) ?? []).filter((at) => now - at < MINUTE_MS);
    if (recent.length >= perMinute) {
      throw new GatewayError(
        "RATE_LIMITED",
        `${what} can be tested at most ${perMinute} times per minute. Try again in a minute.`,
        {
          retryAfterSeconds: Math.ceil((MINUTE_MS - (now - (recent[0] ?? now))) / 1000),
        },
      );
    }
    uses.set(id, [...recent, now]);
    if (uses.size > REMEMBERED) uses.clear();
  };
}
