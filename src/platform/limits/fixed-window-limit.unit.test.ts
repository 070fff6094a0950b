import { beforeEach, describe, expect, test } from "vitest";
import { createFixedWindowLimit } from "./fixed-window-limit.ts";

let now: number;
let use: (id: number) => void;

beforeEach(() => {
  now = 1_000_000;
  use = createFixedWindowLimit(3, "A webhook", { now: () => new Date(), monotonicMs: () => now });
});

describe("a limit of three tests per minute", () => {
  test("rejects the fourth test of a minute, and says when the first one is a minute ago", () => {
    for (let n = 0; n < 3; n++) {
      use(1);
      now += 1_000;
    }
    expect(() => use(1)).toThrowError(
      expect.objectContaining({
        code: "RATE_LIMITED",
        message: "A webhook can be tested at most 3 times per minute. Try again in a minute.",
        retryAfterSeconds: 57,
      }),
    );
  });

  test("allows one more test as soon as the oldest is a minute ago, and no second one", () => {
    for (let n = 0; n < 3; n++) {
      use(1);
      now += 1_000;
    }
    now += 56_999;
    expect(() => use(1)).toThrowError(expect.objectContaining({ retryAfterSeconds: 1 }));
    now += 1;
    use(1);
    expect(() => use(1)).toThrow();
  });

  test("counts each id on its own", () => {
    for (let n = 0; n < 3; n++) use(1);
    use(2);
    expect(() => use(1)).toThrow();
  });

  test("keeps counting the ids in use, however many others are tested once", () => {
    for (let n = 0; n < 3; n++) use(1);
    for (let id = 2; id < 20_000; id++) {
      use(id);
      if (id % 1_000 === 0) expect(() => use(1)).toThrow();
    }
  });
});
