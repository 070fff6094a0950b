import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

/** Work with a weight that ends on request. */
function start(semaphore: Semaphore, weight: number, began: number[]) {
  let end = () => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = semaphore.use(weight, () => {
    began.push(weight);
    return work;
  });
  return { end, done };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("work starts as long as there is capacity, in the order of its arrival", async () => {
  const semaphore = new Semaphore(100);
  const began: number[] = [];
  const [first, second, third, fourth] = [60, 30, 50, 5].map((weight) => start(semaphore, weight, began));
  await turn();
  expect(began).toEqual([60, 30]);
  second?.end();
  await second?.done;
  await turn();
  expect(began, "what is light does not overtake").toEqual([60, 30]);
  first?.end();
  await turn();
  expect(began).toEqual([60, 30, 50, 5]);
  third?.end();
  fourth?.end();
  await Promise.all([third?.done, fourth?.done]);
});

test("work that is heavier than the limit runs alone", async () => {
  const semaphore = new Semaphore(100);
  const began: number[] = [];
  const [light, heavy, next] = [10, 1000, 10].map((weight) => start(semaphore, weight, began));
  await turn();
  expect(began).toEqual([10]);
  light?.end();
  await turn();
  expect(began).toEqual([10, 1000]);
  heavy?.end();
  await turn();
  expect(began).toEqual([10, 1000, 10]);
  next?.end();
  await next?.done;
});

test("work that fails releases its capacity", async () => {
  const semaphore = new Semaphore(100);
  await expect(semaphore.use(100, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(semaphore.use(100, async () => "yes")).resolves.toBe("yes");
});
