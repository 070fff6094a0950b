import { expect, test } from "vitest";
import { ByteBudget } from "./byte-budget.ts";

/** Work of so many bytes that ends when told to. */
function start(budget: ByteBudget, bytes: number, began: number[]) {
  let end = () => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = budget.use(bytes, () => {
    began.push(bytes);
    return work;
  });
  return { end, done };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("work begins as long as there is room, in the order in which it came", async () => {
  const budget = new ByteBudget(100);
  const began: number[] = [];
  const [first, second, third, fourth] = [60, 30, 50, 5].map((bytes) => start(budget, bytes, began));
  await turn();
  expect(began).toEqual([60, 30]);
  second?.end();
  await second?.done;
  await turn();
  expect(began, "what is small does not overtake").toEqual([60, 30]);
  first?.end();
  await turn();
  expect(began).toEqual([60, 30, 50, 5]);
  third?.end();
  fourth?.end();
  await Promise.all([third?.done, fourth?.done]);
});

test("what is larger than the limit goes alone", async () => {
  const budget = new ByteBudget(100);
  const began: number[] = [];
  const [small, huge, next] = [10, 1000, 10].map((bytes) => start(budget, bytes, began));
  await turn();
  expect(began).toEqual([10]);
  small?.end();
  await turn();
  expect(began).toEqual([10, 1000]);
  huge?.end();
  await turn();
  expect(began).toEqual([10, 1000, 10]);
  next?.end();
  await next?.done;
});

test("room is given back by work that fails", async () => {
  const budget = new ByteBudget(100);
  await expect(budget.use(100, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(budget.use(100, async () => "yes")).resolves.toBe("yes");
});
