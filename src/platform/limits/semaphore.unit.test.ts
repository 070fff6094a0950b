import { describe, expect, test } from "vitest";
import { Semaphore, type SemaphoreOptions, type SlotRequest } from "./semaphore.ts";

/** A semaphore, and work that ends on request. */
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
