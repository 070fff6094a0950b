import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

function open(atOnce: number, atOncePerOwner: number) {
  const queue = new FairQueue({ atOnce, atOncePerOwner });
  const began: string[] = [];
  const start = (name: string, owner: number, signal?: AbortSignal) => {
    let end = () => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = queue.use(
      owner,
      () => {
        began.push(name);
        return work;
      },
      signal,
    );
    const finish = async () => {
      end();
      await done;
      await turn();
    };
    return { done, finish };
  };
  return { began, start };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("one owner's work leaves a slot to another owner, whatever waits", async () => {
  const { began, start } = open(3, 2);
  for (let nth = 0; nth < 100; nth++) start("slow", 1);
  start("other", 2);
  await turn();
  expect(began).toEqual(["slow", "slow", "other"]);
});

test("the owner with the least work in progress goes first", async () => {
  const { began, start } = open(2, 2);
  const first = start("a1", 1);
  start("a2", 1);
  start("a3", 1);
  start("b1", 2);
  await first.finish();
  expect(began).toEqual(["a1", "a2", "b1"]);
});

test("the work of one owner starts in the order of its arrival", async () => {
  const { began, start } = open(1, 1);
  const [first, second] = [start("a1", 1), start("a2", 1), start("a3", 1)];
  await first?.finish();
  await second?.finish();
  expect(began).toEqual(["a1", "a2", "a3"]);
});

test("work that is cancelled while it waits never starts, and uses no slot", async () => {
  const { began, start } = open(1, 1);
  const first = start("a1", 1);
  const aborter = new AbortController();
  const input = start("a2", 1, aborter.signal);
  start("a3", 1);
  aborter.abort(new Error("too late"));
  await expect(input.done).rejects.toThrow("too late");
  await expect(start("a4", 1, aborter.signal).done).rejects.toThrow("too late");
  await first.finish();
  expect(began).toEqual(["a1", "a3"]);
});

test("work that fails releases its slot", async () => {
  const queue = new FairQueue({ atOnce: 1, atOncePerOwner: 1 });
  await expect(queue.use(1, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(queue.use(1, async () => "yes")).resolves.toBe("yes");
});
