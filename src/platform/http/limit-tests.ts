import type { Clock } from "../clock.ts";
import { GatewayError } from "../gateway-error.ts";
import { createFixedWindow } from "../limits/fixed-window.ts";

const PER_MINUTE = 10;

/** Throws RATE_LIMITED if the id was used too often. */
export type TestLimit = (id: number) => void;

/** Limits tests that send a request to an arbitrary address. `what` names what is tested, such as "A webhook". */
export function createTestLimit(what: string, clock?: Clock): TestLimit {
  const use = createFixedWindow({ limit: PER_MINUTE, windowMs: 60_000, clock });
  return (id) => {
    const waitMs = use(id);
    if (waitMs === 0) return;
    throw new GatewayError(
      "RATE_LIMITED",
      `${what} can be tested at most ${PER_MINUTE} times per minute. Try again in a minute.`,
      { retryAfterSeconds: Math.ceil(waitMs / 1000) },
    );
  };
}
