import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ConnectionRateLimiter } from "./connection-rate-limiter.ts";

describe("connections that open at the same time", () => {
  it("start with the most recently used ones, a few at a time", async () => {
    const queue = new ConnectionRateLimiter({ maxConcurrent: 2, jitterMs: 0, collectMs: 5 });
    const begun: (number | undefined)[] = [];
    const leaves: (() => void)[] = [];
    for (const at of [undefined, 1, 5, 3, 4]) {
      void queue.acquire(at === undefined ? undefined : new Date(at)).then((leave) => {
        begun.push(at);
        leaves.push(leave);
      });
    }
    await expect.poll(() => begun).toEqual([5, 4]);
    leaves[0]?.();
    leaves[0]?.();
    await expect.poll(() => begun).toEqual([5, 4, 3]);
    void queue.acquire(new Date(9)).then(() => begun.push(9));
    leaves[1]?.();
    await expect.poll(() => begun).toEqual([5, 4, 3, 9]);
    leaves[2]?.();
    await expect.poll(() => begun).toEqual([5, 4, 3, 9, 1]);
  });

  it("start at most at the given rate per second, even when each one opens at once", async () => {
    const queue = new ConnectionRateLimiter({ maxConcurrent: 10, jitterMs: 0, collectMs: 0, perSecond: 100 });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let begun = 0;
    for (let n = 0; n < 21; n++)
      void queue.acquire(undefined).then((leave) => {
        begun += 1;
        leave();
      });
    await vi.advanceTimersByTimeAsync(95);
    expect(begun).toBe(10);
    await vi.advanceTimersByTimeAsync(105);
    expect(begun).toBe(21);
  });
});
