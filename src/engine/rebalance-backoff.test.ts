import { describe, expect, it } from "vitest";
import { RebalanceBackoff } from "./rebalance-backoff.ts";

const MINUTE = 60_000;

describe("the rebalance back-off", () => {
  it("ends at once when a node claimed the released lanes", () => {
    const gifts = new RebalanceBackoff();
    expect(gifts.mayHandOver("k", ["b 1"], 0)).toBe(true);
    gifts.recordHandover("k", [1, 2], ["b 1"], 0);
    expect(gifts.unclaimedLanes("k")).toEqual([1, 2]);
    expect(gifts.mayHandOver("k", ["b 1"], 15_000)).toBe(false);
    gifts.recordClaim("k");
    expect(gifts.unclaimedLanes("k")).toEqual([]);
    expect(gifts.mayHandOver("k", ["b 1"], 15_000)).toBe(true);
  });

  it("doubles from one minute to ten while no node claims the released lanes", () => {
    const gifts = new RebalanceBackoff();
    let now = 0;
    for (const minutes of [1, 2, 4, 8, 10, 10]) {
      gifts.recordHandover("k", [1], ["b 1", "c 1"], now);
      now += minutes * MINUTE;
      expect(gifts.mayHandOver("k", ["c 1", "b 1"], now - 1)).toBe(false);
      expect(gifts.mayHandOver("k", ["c 1", "b 1"], now)).toBe(true);
    }
    gifts.recordClaim("k");
    gifts.recordHandover("k", [1], ["b 1", "c 1"], now);
    expect(gifts.mayHandOver("k", ["b 1", "c 1"], now + MINUTE)).toBe(true);
  });

  it.each([[["b 2"]], [["b 1", "c 1"]]])("ends at once when the other nodes are %j", (others) => {
    const gifts = new RebalanceBackoff();
    gifts.recordHandover("k", [1], ["b 1"], 0);
    gifts.recordHandover("k", [1], ["b 1"], MINUTE);
    expect(gifts.mayHandOver("k", others, MINUTE)).toBe(true);
    gifts.recordHandover("k", [1], others, MINUTE);
    expect(gifts.mayHandOver("k", others, 2 * MINUTE)).toBe(true);
  });

  it("of one kind of lane does not affect another kind", () => {
    const gifts = new RebalanceBackoff();
    gifts.recordHandover("k", [1], ["b 1"], 0);
    expect(gifts.mayHandOver("other", ["b 1"], 0)).toBe(true);
  });
});
