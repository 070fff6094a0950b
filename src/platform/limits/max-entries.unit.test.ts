import { LRUCache } from "lru-cache";
import { expect, test } from "vitest";
import { maxEntries } from "./max-entries.ts";

test("a cache evicts the least recently used entry when it is full, and only then", () => {
  const cache = new LRUCache<string, number>(maxEntries(3));
  for (const [n, key] of ["a", "b", "c"].entries()) cache.set(key, n);
  cache.set("c", 9);
  expect([...cache.keys()]).toEqual(["c", "b", "a"]);
  cache.get("a");
  cache.set("d", 3);
  expect([...cache.keys()]).toEqual(["d", "a", "c"]);
});

test("a cache stays within its limit however many entries it sees, also with lifetimes", () => {
  const cache = new LRUCache<number, number>({ ...maxEntries(100), ttl: 60_000 });
  for (let n = 0; n < 10_000; n++) cache.set(n % 7 === 0 ? n : n % 500, n, { ttl: n % 2 === 0 ? 0 : 60_000 });
  expect(cache.size).toBe(100);
});

test("the limit itself takes no memory", () => {
  const cache = new LRUCache<string, number>(maxEntries(Number.MAX_SAFE_INTEGER));
  cache.set("a", 1);
  expect(cache.get("a")).toBe(1);
});
