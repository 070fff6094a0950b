import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { abortAfter } from "./abort-after.ts";
import { createNonceStore } from "./nodes/add-node-rpc-route.ts";
import { pointInTime } from "./point-in-time.ts";
import { createTtlCache } from "./ttl-cache.ts";
import { isUlid, ulid, ulidTime } from "./ulid.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("ulid", () => {
  it("creates 26 characters of Crockford's alphabet, each id once", () => {
    const ids = Array.from({ length: 20_000 }, () => ulid());
    expect(new Set(ids).size).toBe(20_000);
    expect(ids.every(isUlid)).toBe(true);
  });

  it("increases with every id within one millisecond", () => {
    vi.useFakeTimers({ now: 1_732_084_000_000 });
    const ids = Array.from({ length: 5000 }, () => ulid());
    expect([...ids].sort()).toEqual(ids);
  });

  it("keeps increasing when the clock goes back", () => {
    vi.useFakeTimers({ now: 4_000_000_000_000 });
    const before = ulid();
    vi.setSystemTime(3_999_999_000_000);
    const after = ulid();
    expect(after > before).toBe(true);
  });

  it("contains exactly the given date, past or future, and does not affect the ids of now", () => {
    for (const ms of [0, 1, 1_600_000_000_123, 2 ** 48 - 1]) {
      expect(ulidTime(ulid(new Date(ms))).getTime()).toBe(ms);
    }
    expect(ulidTime(ulid()).getTime()).toBeLessThan(2 ** 47);
  });

  it("increases for ids of the same given date", () => {
    const at = new Date(1_700_000_000_000);
    const ids = Array.from({ length: 5000 }, () => ulid(at));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(5000);
  });

  it("sorts by date as text", () => {
    expect(ulid(new Date(1_000)) < ulid(new Date(1_001))).toBe(true);
    expect(ulid(new Date(999_999_999_999)) < ulid(new Date(1_000_000_000_000))).toBe(true);
  });

  it("reads the date of the specification's example", () => {
    expect(ulidTime("01ARZ3NDEKTSV4RRFFQ69G5FAV").getTime()).toBe(1_469_922_850_259);
  });

  it.each([
    "",
    "01ARZ3NDEKTSV4RRFFQ69G5FA",
    "81ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "x".repeat(26),
  ])("refuses %j", (text) => {
    expect(isUlid(text)).toBe(false);
    expect(() => ulidTime(text)).toThrow(RangeError);
  });

  it("refuses dates that it cannot represent", () => {
    expect(() => ulid(new Date(-1))).toThrow(RangeError);
    expect(() => ulid(new Date(Number.NaN))).toThrow(RangeError);
  });
});

test("A time in a request is one that the database can store", () => {
  expect(pointInTime.parse("2026-11-20T12:00:00+02:00")).toEqual(new Date("2026-11-20T10:00:00Z"));
  expect(pointInTime.safeParse("9999-12-31T23:59:59.999Z").success).toBe(true);
  for (const refused of ["-047503-06-13T08:32:20.290Z", "+010000-01-01T00:00:00Z", "soon", ""]) {
    expect(pointInTime.safeParse(refused).success, refused).toBe(false);
  }
});

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

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

describe("a signal with a deadline", () => {
  test("reports its end to a listener although nothing else refers to it", async () => {
    const request = new AbortController();
    const heard: string[] = [];
    abortAfter(50, request.signal).addEventListener("abort", ({ target }) =>
      heard.push((target as AbortSignal).reason.name),
    );
    await expect
      .poll(async () => {
        collectGarbage();
        await setImmediate();
        return heard;
      })
      .toEqual(["TimeoutError"]);
  });

  test("ends with the first of its signals, for the same reason", () => {
    const request = new AbortController();
    const signal = abortAfter(60_000, new AbortController().signal, request.signal);
    expect(signal.aborted).toBe(false);
    request.abort(new Error("The client has gone."));
    expect(signal.reason).toEqual(new Error("The client has gone."));
  });
});

let now = 0;
const clock = { now: () => new Date(now), monotonicMs: () => now };

test("a nonce is stored for as long as required, also across a rotation", () => {
  const nonces = createNonceStore({ clock, retentionMs: 100, max: 10 });
  now += 99;
  expect(nonces.add("one")).toBe("new");
  now += 99;
  expect(nonces.add("two")).toBe("new");
  expect(nonces.add("one")).toBe("seen");
  now += 100;
  expect(nonces.add("two")).toBe("seen");
  expect(nonces.add("one")).toBe("new");
  now += 1000;
  expect(nonces.add("two")).toBe("new");
});

test("the nonce store is bounded: a nonce beyond its size is refused, and none is evicted", () => {
  const nonces = createNonceStore({ clock, retentionMs: 100, max: 3 });
  const added = ["a", "b", "c", "d", "a"].map((nonce) => nonces.add(nonce));
  expect(added).toEqual(["new", "new", "new", "full", "seen"]);
  now += 100;
  expect(nonces.add("d")).toBe("new");
});
