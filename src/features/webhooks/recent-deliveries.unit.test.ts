import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RecentDeliveries } from "./recent-deliveries.ts";

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
  // Before it, nothing has been cleared.
  vi.advanceTimersByTime(1);
});
afterEach(() => {
  vi.useRealTimers();
});

function keep(
  recent: RecentDeliveries<string>,
  id: number,
  { readAtMs = performance.now(), bytes = 1 } = {},
): void {
  recent.keep(id, { delivery: `delivery ${id}`, readAtMs, bytes });
}

describe("a recent delivery", () => {
  it("is returned once", () => {
    const recent = new RecentDeliveries<string>();
    keep(recent, 1);
    keep(recent, 2);
    expect([recent.take(2), recent.take(2), recent.take(1), recent.take(3)]).toEqual([
      "delivery 2",
      undefined,
      "delivery 1",
      undefined,
    ]);
  });

  it("is forgotten a second after its statement was sent", () => {
    const recent = new RecentDeliveries<string>();
    const readAtMs = performance.now();
    vi.advanceTimersByTime(500);
    keep(recent, 1, { readAtMs });
    keep(recent, 2, { readAtMs });
    vi.advanceTimersByTime(499);
    expect(recent.take(1)).toBe("delivery 1");
    vi.advanceTimersByTime(1);
    expect(recent.take(2)).toBeUndefined();
  });

  it("is forgotten after a change, also if its statement returns after the change", () => {
    const recent = new RecentDeliveries<string>();
    const readAtMs = performance.now();
    keep(recent, 1);
    recent.clear();
    keep(recent, 2, { readAtMs });
    vi.advanceTimersByTime(1);
    keep(recent, 3);
    expect([recent.take(1), recent.take(2), recent.take(3)]).toEqual([undefined, undefined, "delivery 3"]);
  });

  it("is not kept beyond 16 MB, and those that were taken, forgotten or cleared leave their place", () => {
    const recent = new RecentDeliveries<string>();
    keep(recent, 1, { bytes: 10 * MB });
    keep(recent, 2, { bytes: 7 * MB });
    expect([recent.take(2), recent.take(1)]).toEqual([undefined, "delivery 1"]);
    keep(recent, 3, { bytes: 16 * MB });
    vi.advanceTimersByTime(2_000);
    keep(recent, 4, { bytes: 16 * MB });
    recent.clear();
    vi.advanceTimersByTime(1);
    keep(recent, 5, { bytes: 16 * MB });
    expect(recent.take(5)).toBe("delivery 5");
  });

  it("leaves no timer when none is kept", () => {
    const recent = new RecentDeliveries<string>();
    keep(recent, 1);
    vi.advanceTimersByTime(600);
    keep(recent, 2);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
