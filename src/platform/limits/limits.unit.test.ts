import { LRUCache } from "lru-cache";
import { beforeEach, describe, expect, test } from "vitest";
import { createFixedWindow, type FixedWindow } from "./fixed-window.ts";
import { maxEntries } from "./max-entries.ts";
import { Semaphore, type SemaphoreOptions, type SlotRequest } from "./semaphore.ts";
import { createTokenBuckets, type TokenBuckets } from "./token-bucket.ts";

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

let now: number;
let use: FixedWindow;

beforeEach(() => {
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
/** How many of `tries` requests are granted at this moment. */
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
    const waits = Array.from({ length: 1000 }, (_, n) => {
      now += 0.1 * n;
      return take(claim(3, 1, `shop ${n}`)).states[0]?.resetMs;
    });
    expect(new Set(waits)).toEqual(new Set([20_000]));
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

/** A semaphore with work that ends on request. */
function open(options: SemaphoreOptions) {
  const semaphore = new Semaphore(options);
  const began: string[] = [];
  const start = (name: string, request: SlotRequest = {}) => {
    let end = () => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = semaphore.use(() => {
      began.push(name);
      return work;
    }, request);
    const finish = async () => {
      end();
      await done;
      await turn();
    };
    return { done, finish };
  };
  return { semaphore, began, start };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("work with a weight", () => {
  test("starts as long as there is capacity, in the order of its arrival", async () => {
    const { began, start } = open({ limit: 100 });
    const [first, second] = [60, 30, 50, 5].map((weight) => start(String(weight), { weight }));
    expect(began).toEqual(["60", "30"]);
    await second?.finish();
    expect(began, "what is light does not overtake").toEqual(["60", "30"]);
    await first?.finish();
    expect(began).toEqual(["60", "30", "50", "5"]);
  });

  test("that is heavier than the limit runs alone", async () => {
    const { began, start } = open({ limit: 100 });
    const [light, heavy] = [10, 1000, 20].map((weight) => start(String(weight), { weight }));
    expect(began).toEqual(["10"]);
    await light?.finish();
    expect(began).toEqual(["10", "1000"]);
    await heavy?.finish();
    expect(began).toEqual(["10", "1000", "20"]);
  });
});

describe("work of several keys", () => {
  test("of which one has much leaves a slot to another, whatever waits", () => {
    const { began, start } = open({ limit: 3, limitPerKey: 2 });
    for (let nth = 0; nth < 100; nth++) start("slow", { key: 1 });
    start("other", { key: 2 });
    expect(began).toEqual(["slow", "slow", "other"]);
  });

  test("starts with the key that has the least work in progress", async () => {
    const { began, start } = open({ limit: 2 });
    const first = start("a1", { key: "a" });
    start("a2", { key: "a" });
    start("a3", { key: "a" });
    start("b1", { key: "b" });
    await first.finish();
    expect(began).toEqual(["a1", "a2", "b1"]);
  });

  test("takes turns where equally much of each is in progress", async () => {
    const { began, start } = open({ limit: 1 });
    const works = ["a1", "a2", "a3", "a4", "b1", "b2"].map((name) => start(name, { key: name[0] }));
    for (const at of [0, 1, 4, 2, 5]) await works[at]?.finish();
    expect(began).toEqual(["a1", "a2", "b1", "a3", "b2", "a4"]);
  });

  test("is not limited in total if only the keys are", () => {
    const { began, start, semaphore } = open({ limitPerKey: 1 });
    for (const key of ["a", "b", "a", "c", "a"]) start(key, { key });
    expect(began).toEqual(["a", "b", "c"]);
    expect([semaphore.countWaiting("a"), semaphore.countWaiting("b")]).toEqual([2, 0]);
  });
});

describe("work of one key", () => {
  test("starts in the order of its arrival", async () => {
    const { began, start } = open({ limit: 1 });
    const [first, second] = ["a1", "a2", "a3"].map((name) => start(name));
    await first?.finish();
    await second?.finish();
    expect(began).toEqual(["a1", "a2", "a3"]);
  });

  test("starts with the highest priority, and equal ones in the order of their arrival", async () => {
    const { began, start } = open({ limit: 1 });
    const first = start("first");
    const works = [1, 3, 2, 3].map((priority, nth) => start(`${priority} ${nth}`, { priority }));
    await first.finish();
    for (const nth of [1, 3, 2]) await works[nth]?.finish();
    expect(began).toEqual(["first", "3 1", "3 3", "2 2", "1 0"]);
  });
});

describe("a slot", () => {
  test("is freed by work that fails", async () => {
    const { semaphore } = open({ limit: 1 });
    await expect(semaphore.use(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(semaphore.use(async () => "yes")).resolves.toBe("yes");
  });

  test("is not used by work that is cancelled while it waits", async () => {
    const { began, start } = open({ limit: 2 });
    const first = start("a1");
    const aborter = new AbortController();
    const heavy = start("a2", { weight: 2, signal: aborter.signal });
    start("a3");
    expect(began).toEqual(["a1"]);
    aborter.abort(new Error("too late"));
    await expect(heavy.done).rejects.toThrow("too late");
    await expect(start("a4", { signal: aborter.signal }).done).rejects.toThrow("too late");
    expect(began, "and the work behind it goes on").toEqual(["a1", "a3"]);
    await first.finish();
  });

  test("can be taken without a wait, and is freed once however often it is released", () => {
    const { semaphore } = open({ limit: 2 });
    const [first, second] = [semaphore.tryAcquire(), semaphore.tryAcquire()];
    expect(second).toBeDefined();
    expect(semaphore.tryAcquire()).toBeUndefined();
    first?.release();
    first?.release();
    expect(semaphore.tryAcquire({ weight: 2 })).toBeUndefined();
    expect(semaphore.tryAcquire()).toBeDefined();
    expect(semaphore.used).toBe(2);
  });

  test("grows as long as there is capacity, and beyond it only while it is the only one", () => {
    const { semaphore } = open({ limit: 100 });
    const [first, second] = [semaphore.tryAcquire({ weight: 60 }), semaphore.tryAcquire({ weight: 30 })];
    expect([first?.tryGrow(20), first?.tryGrow(10)]).toEqual([false, true]);
    second?.release();
    expect([first?.tryGrow(500), semaphore.used]).toEqual([true, 570]);
    expect(semaphore.tryAcquire()).toBeUndefined();
    first?.release();
    expect(semaphore.used).toBe(0);
  });
});
