import { expect, test } from "vitest";
import { createTestLimit } from "./test-limit.ts";

test("the eleventh test of a webhook within a minute is rejected, with the seconds until the next one", () => {
  let now = 1_000_000;
  const allow = createTestLimit("A webhook", { now: () => new Date(), monotonicMs: () => now });
  for (let n = 0; n < 10; n++) allow(1);
  now += 2_500;
  expect(() => allow(1)).toThrowError(
    expect.objectContaining({
      code: "RATE_LIMITED",
      message: "A webhook can be tested at most 10 times per minute. Try again in a minute.",
      retryAfterSeconds: 58,
    }),
  );
  allow(2);
});
