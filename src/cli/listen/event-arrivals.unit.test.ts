import { describe, expect, test } from "vitest";
import { EventArrivals } from "./event-arrivals.ts";

const event = (id: unknown) => ({ event_id: id });

describe("the events that have arrived", () => {
  test("are known by their id, and each is new once", () => {
    const arrivals = new EventArrivals();
    expect([arrivals.add(event("a")), arrivals.add(event("a")), arrivals.add(event("b"))]).toEqual([
      true,
      false,
      true,
    ]);
    expect([arrivals.has("a"), arrivals.has("c")]).toEqual([true, false]);
  });

  test("without an id are all new", () => {
    const arrivals = new EventArrivals();
    for (const odd of [null, "x", {}, event(7)]) expect(arrivals.add(odd)).toBe(true);
  });

  test("are forgotten after ten thousand others", () => {
    const arrivals = new EventArrivals();
    for (let i = 0; i <= 10_000; i++) arrivals.add(event(`e${i}`));
    expect([arrivals.has("e0"), arrivals.has("e1"), arrivals.has("e10000")]).toEqual([false, true, true]);
  });

  test("end the wait for one of them, also if it has arrived before", async () => {
    const arrivals = new EventArrivals();
    arrivals.add(event("a"));
    const next = arrivals.next("a", 60_000);
    arrivals.add(event("b"));
    arrivals.add(event("a"));
    expect(await next).toBe(true);
    expect(await arrivals.next("a", 1)).toBe(false);
  });
});
