import { beforeEach, describe, expect, test } from "vitest";
import { createTokenBuckets, type TokenBuckets } from "./token-bucket.ts";

let now: number;
let nodes: number;
let buckets: TokenBuckets;

beforeEach(() => {
  now = 1_000_000.5;
  nodes = 1;
  buckets = createTokenBuckets({
    clock: { now: () => new Date(), monotonicMs: () => now },
    maxKeys: 100,
    shares: () => nodes,
  });
});

const claim = (perMinute: number, cost = 1, key = "shop") => ({ key, policy: "account", perMinute, cost });
const take = (...claims: ReturnType<typeof claim>[]) => buckets.consume(...claims);
/** The number of granted requests out of `tries` at this moment. */
const granted = (tries: number, perMinute: number) =>
  Array.from({ length: tries }, () => take(claim(perMinute))).filter(({ isGranted }) => isGranted).length;

describe("a token bucket", () => {
  test("can be used up at once, and refills evenly", () => {
    expect(granted(20, 6)).toBe(6);
    now += 9_999;
    expect(granted(5, 6)).toBe(0);
    now += 1;
    expect(granted(5, 6)).toBe(1);
    now += 60_000;
    expect(granted(20, 6)).toBe(6);
  });

  test("reports the remaining requests and the time of the next one, never too early", () => {
    expect(take(claim(6)).states[0]).toMatchObject({ limit: 6, remaining: 5, resetMs: 10_000 });
    granted(5, 6);
    now += 4_000;
    const { isGranted, states } = take(claim(6));
    expect([isGranted, states[0]?.remaining]).toEqual([false, 0]);
    now += states[0]?.resetMs ?? 0;
    expect(take(claim(6)).isGranted).toBe(true);
  });

  test("reports that time exactly, whatever fraction of a millisecond the clock shows", () => {
    const told = Array.from({ length: 1000 }, (_, n) => {
      now += 0.1 * n;
      return take(claim(3, 1, `shop ${n}`)).states[0]?.resetMs;
    });
    expect(new Set(told)).toEqual(new Set([20_000]));
  });

  test("is not charged for a request that another limit refuses", () => {
    granted(2, 2);
    expect(take(claim(10, 1, "instance"), claim(2)).isGranted).toBe(false);
    expect(take(claim(10, 1, "instance")).states[0]?.remaining).toBe(9);
  });

  test("is charged with the cost of a request, of which none is too expensive forever", () => {
    expect(take(claim(10, 3)).states[0]?.remaining).toBe(7);
    expect(take(claim(2, 5, "small")).isGranted).toBe(true);
    expect(take(claim(2, 1, "small")).isGranted).toBe(false);
  });

  test("is divided by the number of nodes, also when nodes join and leave", () => {
    nodes = 2;
    expect(granted(20, 6)).toBe(3);
    nodes = 1;
    now += 60_000;
    expect(granted(20, 6)).toBe(6);
  });

  test("refills more slowly on each of several nodes", () => {
    nodes = 2;
    granted(20, 6);
    now += 19_999;
    expect(granted(5, 6)).toBe(0);
    now += 1;
    expect(granted(5, 6)).toBe(1);
  });

  test("is forgotten once as many others as fit into memory have been used since, and not before", () => {
    const useOthers = (count: number) => {
      for (let n = 0; n < count; n++) take(claim(2, 1, `other ${n}`));
    };
    granted(2, 2);
    useOthers(99);
    expect(take(claim(2)).isGranted).toBe(false);
    useOthers(100);
    expect(take(claim(2)).isGranted).toBe(true);
  });

  test("of zero allows nothing", () => {
    expect(granted(3, 0)).toBe(0);
  });

  test("with a smaller burst spaces what comes at once", () => {
    const spaced = { key: "spaced", perMinute: 60, burst: 1 };
    expect([buckets.consume(spaced).waitMs, buckets.consume(spaced).waitMs]).toEqual([0, 1_000]);
    now += 1_000;
    expect(buckets.consume(spaced).isGranted).toBe(true);
  });
});
