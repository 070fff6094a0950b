import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLoadShedder, startEventLoopLagMeter } from "./load-shedder.ts";

describe("the load shedder", () => {
  const lines: { msg: string; count?: number }[] = [];
  const note = (fields: object, msg: string) => void lines.push({ ...fields, msg });
  const log = { warn: note, info: note } as unknown as Parameters<typeof createLoadShedder>[1];
  beforeEach(() => {
    lines.length = 0;
  });

  test("refuses requests from the limit on, and accepts them again only well below it", () => {
    let value = 100;
    const pressure = createLoadShedder([{ label: "things", limit: 100, read: () => value }], log);
    const answers: boolean[] = [];
    for (value of [99, 100, 99, 81, 80, 99]) answers.push(pressure.admits());
    expect(answers).toEqual([true, false, false, false, true, true]);
  });

  test("accepts requests only when every gauge is below its limit, and logs changes only", () => {
    const values = { a: 9, b: 1 };
    const gauges = [
      { label: "a", limit: 5, read: () => values.a },
      { label: "b", limit: 5, read: () => values.b },
    ];
    const pressure = createLoadShedder(gauges, log);
    expect([pressure.admits(), pressure.admits()]).toEqual([false, false]);
    Object.assign(values, { a: 0, b: 6 });
    expect(pressure.admits()).toBe(false);
    values.b = 4;
    expect(pressure.admits()).toBe(true);
    expect(lines.map(({ msg, count }) => [msg.split(":")[0], count])).toEqual([
      ["overloaded", 9],
      ["no longer overloaded", 0],
      ["overloaded", 6],
      ["no longer overloaded", 4],
    ]);
  });

  test("treats 0 as no limit", () => {
    expect(createLoadShedder([{ label: "a", limit: 0, read: () => 1e9 }], log).admits()).toBe(true);
  });
});

describe("the event-loop delay of a process", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  /** Fires the timer once for each entry, late by that many milliseconds. */
  function lagAfter(lates: number[]): number {
    let now = 0;
    const meter = startEventLoopLagMeter({ ceilingMs: 2_000, now: () => now });
    for (const late of lates) {
      now += 250 + late;
      vi.advanceTimersByTime(250);
    }
    meter.stop();
    return meter.read();
  }

  test("is zero while timers fire on time, and rises to a lasting delay", () => {
    expect(lagAfter(Array(20).fill(0))).toBe(0);
    expect(lagAfter(Array(60).fill(1_500))).toBeCloseTo(1_500, 0);
  });

  test("stays below half of its ceiling after a single pause, however long, and falls again", () => {
    expect(lagAfter([120_000])).toBeLessThan(1_000);
    expect(lagAfter([2_000, 2_000, 2_000])).toBeGreaterThan(1_000);
    expect(lagAfter([2_000, 2_000, 2_000, 0, 0, 0, 0])).toBeLessThan(400);
  });
});
