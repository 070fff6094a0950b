import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createTtlCache } from "./ttl-cache.ts";

function counted(values: (string | undefined | Error)[], ttlMs = 60_000) {
  let asked = 0;
  const cache = createTtlCache<string>({
    max: 10,
    ttlMs,
    async load() {
      const value = values[Math.min(asked++, values.length - 1)];
      await sleep(5);
      if (value instanceof Error) throw value;
      return value;
    },
  });
  return { cache, asked: () => asked };
}

describe("the TTL cache", () => {
  it("loads a value once for parallel callers, and not again while the value is fresh", async () => {
    const { cache, asked } = counted(["a"]);
    expect(await Promise.all(Array.from({ length: 20 }, () => cache.get("k")))).toEqual(Array(20).fill("a"));
    await cache.get("k");
    expect(asked()).toBe(1);
  });

  it("loads the value again once it has expired", async () => {
    const { cache } = counted(["a", "b"], 20);
    await cache.get("k");
    await expect.poll(() => cache.get("k")).toBe("b");
  });

  it("stores neither an absent value nor a failure", async () => {
    const { cache } = counted([undefined, new Error("away"), "a"]);
    expect(await cache.get("k")).toBeUndefined();
    await expect(cache.get("k")).rejects.toThrow("away");
    expect(await cache.get("k")).toBe("a");
  });

  it("holds at most `max` values, and forgets the least recently used ones", async () => {
    const { cache } = counted(["a"]);
    for (let n = 0; n < 11; n++) await cache.get(`k${n}`);
    expect(["k0", "k1", "k10"].map((key) => cache.has(key))).toEqual([false, true, true]);
  });

  it("invalidates also a value that is still being loaded", async () => {
    const { cache } = counted(["old", "new"]);
    const early = cache.get("k");
    cache.delete("k");
    expect(await cache.get("k")).toBe("new");
    expect(await early).toBe("old");
    expect(await cache.get("k")).toBe("new");
  });
});
