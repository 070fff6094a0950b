import { describe, expect, it } from "vitest";
import { CaughtUpLanes } from "./caught-up-lanes.ts";

const INSTANCE = 7;

/** A batch of the events after `before` up to `last`, with a delivery in each of the lanes. */
function batch(before: number, last: number, ...lanes: number[]) {
  const deliveries = lanes.map((lane) => ({
    id: last,
    lane,
    prio: 1,
    pos: last,
    grp: "chat",
    run_at: new Date(),
    ref: {},
  }));
  return { instance_id: INSTANCE, before, last, deliveries, is_reported: false };
}

describe("a lane is caught up", () => {
  it("if this node has recorded every event since the lane was woken", () => {
    const lanes = new CaughtUpLanes();
    expect([...lanes.advance(batch(3, 4, 1))]).toEqual([]);
    expect([...lanes.advance(batch(4, 6, 1))]).toEqual([1]);
    expect([...lanes.advance(batch(6, 7))]).toEqual([1]);
    expect([...lanes.advance(batch(7, 8, 1))]).toEqual([1]);
  });

  it("only after it was woken itself: what another recorder queued for it may be unknown", () => {
    const lanes = new CaughtUpLanes();
    lanes.advance(batch(0, 1, 1, 2));
    expect([...lanes.advance(batch(2, 3, 1))]).toEqual([]);
    expect([...lanes.advance(batch(3, 4, 1, 2))]).toEqual([1]);
    expect([...lanes.advance(batch(4, 5, 1, 2))]).toEqual([1, 2]);
  });

  it("not by batches that are noted in another order than they were committed", () => {
    const lanes = new CaughtUpLanes();
    lanes.advance(batch(0, 1, 1));
    expect([...lanes.advance(batch(2, 3, 1))]).toEqual([]);
    expect([...lanes.advance(batch(1, 2, 1))]).toEqual([]);
    expect([...lanes.advance(batch(3, 4, 1))]).toEqual([1]);
  });

  it("apart from the lanes of other instances", () => {
    const lanes = new CaughtUpLanes();
    lanes.advance({ ...batch(0, 1, 1), instance_id: 8 });
    expect([...lanes.advance(batch(1, 2, 2))]).toEqual([]);
    expect([...lanes.advance({ ...batch(1, 2, 1), instance_id: 8 })]).toEqual([1]);
  });
});
