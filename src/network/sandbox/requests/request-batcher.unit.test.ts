import { describe, expect, it } from "vitest";
import { RequestBatcher } from "../connection/sandbox-runtime.ts";

describe("the request batcher", () => {
  it("merges the requests that arrive meanwhile, in order and up to its size", async () => {
    const batches: number[][] = [];
    const batch = new RequestBatcher<number, number>({
      max: 3,
      async run(items) {
        batches.push(items);
        await Promise.resolve();
        return items.map((item) => item * 2);
      },
    });
    const results = await Promise.all([1, 2, 3, 4, 5].map((item) => batch.add(item)));
    expect(results).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
  });

  it("fails only the item with the error when it can be identified", async () => {
    const batch = new RequestBatcher<string, string>({
      max: 10,
      retryOneByOne: () => true,
      async run(items) {
        if (items.includes("bad")) throw new Error("bad item");
        return items;
      },
    });
    const results = await Promise.allSettled(["good", "bad", "fine"].map((item) => batch.add(item)));
    expect(results.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("fails every item when it cannot be identified, and continues afterwards", async () => {
    let isAway = true;
    const batch = new RequestBatcher<number, number>({
      max: 10,
      retryOneByOne: () => false,
      async run(items) {
        if (isAway) throw new Error("away");
        return items;
      },
    });
    const results = await Promise.allSettled([batch.add(1), batch.add(2)]);
    expect(results.map((one) => one.status)).toEqual(["rejected", "rejected"]);
    isAway = false;
    expect(await batch.add(3)).toBe(3);
  });
});
