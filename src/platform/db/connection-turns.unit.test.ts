import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { ConnectionTurns, type Turn } from "./connection-turns.ts";

test("work takes a connection at once while few are in use, and then waits for the end of other work", async () => {
  const turns = new ConnectionTurns(1);
  const first = await turns.begin();
  let hasBegun = false;
  const second = turns.begin().then(() => {
    hasBegun = true;
  });
  await nextTurn();
  expect(hasBegun).toBe(false);
  turns.end(first);
  await second;
});

test("work that waits goes on in the order of its arrival", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const turns = new ConnectionTurns(1);
  const running = await turns.begin();
  const order: string[] = [];
  const begin = async (name: string) => {
    const turn = await turns.begin();
    order.push(name);
    return turn;
  };
  const [first, second] = ["first", "second"].map(begin) as [Promise<Turn>, Promise<Turn>];
  turns.end(running);
  const next = await first;
  expect(order).toEqual(["first"]);
  turns.end(next);
  await second;
  vi.useRealTimers();
  expect(order).toEqual(["first", "second"]);
});

test("work that keeps a connection for long delays no other work", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  const turns = new ConnectionTurns(2);
  await turns.begin();
  await turns.begin();
  vi.advanceTimersByTime(1_000);
  await turns.begin();
  await turns.begin();
  let hasBegun = false;
  void turns.begin().then(() => {
    hasBegun = true;
  });
  await nextTurn();
  vi.useRealTimers();
  expect(hasBegun).toBe(false);
});

test("work does not wait for a connection whose statement takes long", async () => {
  const turns = new ConnectionTurns(1);
  await turns.begin();
  await turns.begin();
  await turns.begin();
});
