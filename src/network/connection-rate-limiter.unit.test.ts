import { describe, expect, it } from "vitest";
import { ConnectionRateLimiter } from "./connection-rate-limiter.ts";

const turn = () => new Promise((done) => setTimeout(done, 5));

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
    await turn();
    expect(begun).toEqual([5, 4, 3, 9]);
    leaves[2]?.();
    await expect.poll(() => begun).toEqual([5, 4, 3, 9, 1]);
  });

  it("start at most at the given rate per second, even when each one opens at once", async () => {
    const queue = new ConnectionRateLimiter({ maxConcurrent: 10, jitterMs: 0, collectMs: 0, perSecond: 100 });
    const began = performance.now();
    await Promise.all(
      Array.from({ length: 21 }, async () => {
        const leave = await queue.acquire(undefined);
        leave();
      }),
    );
    // Twenty intervals of 10 ms; a timer may be early by a fraction of a millisecond.
    expect(performance.now() - began).toBeGreaterThan(195);
  });
});
