import { expect, test } from "vitest";
import { type SendDelayRange, SendThrottle } from "./send-throttle.ts";

const LANE = 7;

function startPaces() {
  const pauses: number[] = [];
  const paces = new SendThrottle({ pauseLane: (_lane: number, ms: number) => void pauses.push(ms) });
  /** Whether the lane allows a send now. */
  const send = async (range: SendDelayRange) => {
    const turn = paces.tryAcquire(LANE);
    const isNow = (await turn?.wait(range, () => {})) === true;
    if (isNow) turn?.markUsed();
    turn?.release();
    return isNow;
  };
  return { send, pauses, paces };
}

test("sends beyond an instance's rate wait until one of the minute's sends is available again", async () => {
  const { send, pauses } = startPaces();
  const range = { min: 0, max: 0, perMinute: 3 };
  const sent: boolean[] = [];
  for (let n = 0; n < 5; n++) sent.push(await send(range));
  expect(sent).toEqual([true, true, true, false, false]);
  // One send becomes available every 20 s; the lane is polled up to 3 s before.
  expect(pauses.at(-1)).toBeGreaterThan(1_000);
  expect(pauses.at(-1)).toBeLessThanOrEqual(17_000);
});

test("removing the rate limit lets the next send proceed", async () => {
  const { send, paces } = startPaces();
  const range = { min: 0, max: 0, perMinute: 1 };
  expect([await send(range), await send(range)]).toEqual([true, false]);
  paces.invalidate(LANE);
  expect(await send({ min: 0, max: 0, perMinute: null })).toBe(true);
});
