import { describe, expect, it } from "vitest";
import { FailureDetector, NODE_TIMING } from "./failure-detector.ts";

const other = (heartbeat: number, extra: object = {}) => ({
  id: "b",
  boot: 1,
  heartbeat,
  dead: false,
  roles: ["worker"],
  ...extra,
});

/** Polls every second, as if the response came at once. */
function watchFor(heartbeats: number[]): { watch: FailureDetector; suspects: string[][] } {
  const watch = new FailureDetector("a", 12_000);
  const suspects = heartbeats.map((heartbeat, second) =>
    watch.observe([other(heartbeat)], second * 1_000, second * 1_000).map((node) => node.id),
  );
  return { watch, suspects };
}

describe("the failure detector", () => {
  it("suspects a node whose heartbeat is unchanged for 12 s, and not before", () => {
    const { suspects } = watchFor([...Array(13).fill(7)]);
    expect(suspects.slice(0, 12).flat()).toEqual([]);
    expect(suspects[12]).toEqual(["b"]);
  });

  it("declares a death at the fourth poll after the first unchanged one, at any poll duration", () => {
    const { heartbeatMs, deadAfterMs, selfFenceMs } = NODE_TIMING;
    const watch = new FailureDetector("a", deadAfterMs);
    const look = (n: number) => watch.observe([other(7)], n * heartbeatMs, n * heartbeatMs + 900).length;
    expect([0, 1, 2, 3, 4].map(look)).toEqual([0, 0, 0, 0, 1]);
    expect(selfFenceMs + 1_500).toBeLessThan(deadAfterMs);
  });

  it("suspects no node whose heartbeat changes, whatever its clock shows", () => {
    expect(watchFor([5, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10]).suspects.flat()).toEqual([]);
  });

  it("starts anew after a time in which polls failed", () => {
    const watch = new FailureDetector("a", 12_000);
    watch.observe([other(1)], 0, 0);
    expect(watch.observe([other(1)], 60_000, 60_000)).toEqual([]);
    for (const at of [63_000, 66_000, 69_000]) expect(watch.observe([other(1)], at, at)).toEqual([]);
    watch.reset();
    expect(watch.observe([other(1)], 72_000, 72_000)).toEqual([]);
  });

  it("counts until the sending of a poll, not until its late response", () => {
    const watch = new FailureDetector("a", 12_000);
    watch.observe([other(1)], 0, 0);
    watch.observe([other(1)], 5_000, 5_000);
    expect(watch.observe([other(1)], 10_000, 30_000)).toEqual([]);
  });

  it("treats a new boot with the same heartbeat as alive", () => {
    const watch = new FailureDetector("a", 12_000);
    for (const at of [0, 5_000, 10_000]) watch.observe([other(1)], at, at);
    expect(watch.observe([other(1, { boot: 2 })], 14_000, 14_000)).toEqual([]);
  });

  it("never suspects its own node or a node that is dead already", () => {
    const watch = new FailureDetector("a", 12_000);
    const rows = [other(1, { id: "a" }), other(1, { dead: true })];
    for (let at = 0; at <= 30_000; at += 3_000) expect(watch.observe(rows, at, at)).toEqual([]);
    expect(watch.dead()).toEqual(["b"]);
    expect(watch.alive(30_000)).toEqual([]);
  });

  it("knows which nodes are alive with which role", () => {
    const { watch } = watchFor([1, 2, 3]);
    expect(watch.alive(3_000)).toHaveLength(1);
    expect(watch.alive(3_000, "worker")).toHaveLength(1);
    expect(watch.alive(3_000, "sessions")).toEqual([]);
    expect(watch.alive(14_000, "worker")).toEqual([]);
  });
});
