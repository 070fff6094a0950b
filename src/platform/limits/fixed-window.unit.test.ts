import { beforeEach, describe, expect, test } from "vitest";
import { createFixedWindow, type FixedWindow } from "./fixed-window.ts";

let now: number;
let use: FixedWindow;

beforeEach(() => {
  now = 1_000_000;
  const clock = { now: () => new Date(), monotonicMs: () => now };
  use = createFixedWindow({ limit: 3, windowMs: 60_000, clock });
});

function useUp(): void {
  for (let n = 0; n < 3; n++) {
    expect(use(1)).toBe(0);
    now += 1_000;
  }
}

describe("a window of three uses per minute", () => {
  test("rejects the fourth use of a minute, and says when the first one is a minute ago", () => {
    useUp();
    expect(use(1)).toBe(57_000);
  });

  test("allows one more use as soon as the oldest is a minute ago, and no second one", () => {
    useUp();
    now += 56_999;
    expect(use(1)).toBe(1);
    now += 1;
    expect(use(1)).toBe(0);
    expect(use(1)).toBe(1_000);
  });

  test("counts each key on its own", () => {
    useUp();
    expect(use(2)).toBe(0);
    expect(use(1)).toBeGreaterThan(0);
  });

  test("keeps counting the keys in use, however many others are used once", () => {
    useUp();
    for (let key = 2; key < 20_000; key++) {
      use(key);
      if (key % 1_000 === 0) expect(use(1)).toBeGreaterThan(0);
    }
  });
});
