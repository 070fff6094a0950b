import { describe, expect, it } from "vitest";
import type { FetchJobsQuery, JobRow } from "./job-store.ts";
import type { LaneKind } from "./lane-kind.ts";
import { OwnedLane } from "./owned-lane.ts";

function createWork(options: Partial<LaneKind> = {}): OwnedLane {
  const kind = {
    kind: "k",
    role: "worker" as const,
    laneConcurrency: 4,
    run: async () => ({ end: "done" as const }),
  };
  const work = new OwnedLane({ id: 1, kind: "k", key: "1", epoch: 1 }, { ...kind, ...options });
  work.isOpen = true;
  return work;
}

let lastId = 0;
function row(pos: number, grp: string, extra: Partial<JobRow> = {}): JobRow {
  lastId += 1;
  return {
    id: lastId,
    lane: 1,
    prio: 1,
    pos,
    grp,
    run_at: new Date(),
    attempts: 0,
    max_attempts: null,
    ref: {},
    wait_ms: 0,
    lowest: false,
    ...extra,
  };
}

/** Returns the rows that the database would return. */
function answer(work: OwnedLane, rows: JobRow[], order: FetchJobsQuery = work.beginFetch()): void {
  const wanted = rows.filter(
    (one) => !order.skip.includes(one.grp) && (order.only?.includes(one.grp) ?? true),
  );
  work.fetched(wanted.slice(0, order.limit), order.limit);
}

function startAll(work: OwnedLane): number[] {
  const started: number[] = [];
  for (
    let job = work.isRunnable() && work.startNextJob();
    job;
    job = work.isRunnable() && work.startNextJob()
  )
    started.push(job.pos);
  return started;
}

describe("the dispatch of one lane", () => {
  it("starts at most `width` jobs, one of each group, oldest first", () => {
    const work = createWork({ prefetch: 20 });
    answer(work, [row(2, "b"), row(1, "a"), row(3, "a"), row(4, "c"), row(5, "d"), row(6, "e")]);
    expect(startAll(work)).toEqual([1, 2, 4, 5]);
  });

  it("skips the groups that are busy, waiting or read already", () => {
    const work = createWork({ prefetch: 3 });
    answer(work, [row(1, "busy"), row(2, "waiting", { wait_ms: 5_000 }), row(3, "busy")]);
    expect(startAll(work)).toEqual([1]);
    const order = work.beginFetch();
    expect([...order.skip].sort()).toEqual(["busy", "waiting"]);
    expect(order.limit).toBe(3);
  });

  it("makes a group wait if its first job is not due, and starts none of its later jobs", () => {
    const work = createWork({ prefetch: 10 });
    answer(work, [row(1, "a", { wait_ms: 5_000 }), row(2, "a"), row(3, "b")]);
    expect(startAll(work)).toEqual([3]);
    expect(work.nextChangeAt()).toBeGreaterThan(performance.now() + 4_000);
  });

  it("does not start a job behind another one that is not due", () => {
    const work = createWork({ prefetch: 10 });
    answer(work, [row(1, "a"), row(2, "a", { wait_ms: 5_000 }), row(3, "a")]);
    expect(startAll(work)).toEqual([1]);
    work.finishJob("a");
    expect(startAll(work)).toEqual([]);
    expect(work.needsFetch()).toBe(true);
  });

  it("ignores what a read returns of a group that was started during the read", () => {
    const work = createWork({ prefetch: 4, laneConcurrency: 2 });
    const rows = [row(1, "a"), row(2, "a"), row(3, "a"), row(4, "a")];
    answer(work, rows);
    expect(work.startNextJob()?.pos).toBe(1);
    const order = work.beginFetch();
    work.finishJob("a");
    expect(work.startNextJob()?.pos).toBe(2);
    work.finishJob("a");
    // The snapshot is older than the end of both.
    work.fetched([...rows, row(5, "b")], order.limit);
    expect(startAll(work)).toEqual([3, 5]);
  });

  it("does not lose a wake-up that arrives while a read is in progress", () => {
    const work = createWork();
    const order = work.beginFetch();
    work.wake();
    work.fetched([], order.limit);
    expect(work.isRunnable()).toBe(true);
    answer(work, []);
    expect(work.isRunnable()).toBe(false);
  });

  it("reads jobs again that changed while a read was in progress", () => {
    const work = createWork();
    const order = work.beginFetch();
    work.wake(true);
    work.fetched([row(1, "a", { wait_ms: 60_000 })], order.limit);
    expect(work.nextChangeAt()).toBeUndefined();
    expect(work.needsFetch()).toBe(true);
  });

  it("drops the jobs it has read of a group when a job of the group is to be retried", () => {
    const work = createWork({ prefetch: 10, laneConcurrency: 2 });
    answer(work, [row(1, "a"), row(2, "a"), row(3, "b")]);
    expect(startAll(work)).toEqual([1, 3]);
    work.finishJob("a", { waitMs: 5_000 });
    work.finishJob("b");
    expect(startAll(work)).toEqual([]);
    expect(work.beginFetch().skip).toEqual(["a"]);
  });

  it("continues with the jobs it has read when a job is done", () => {
    const work = createWork({ prefetch: 10, laneConcurrency: 2 });
    answer(work, [row(1, "a"), row(2, "a")]);
    work.startNextJob();
    work.finishJob("a");
    expect(work.needsFetch()).toBe(false);
    expect(work.startNextJob()?.pos).toBe(2);
  });

  it("without lookahead holds no job that an urgent job could overtake", () => {
    const work = createWork();
    answer(work, [row(1, "a"), row(2, "a"), row(3, "b")]);
    expect(work.startNextJob()?.pos).toBe(1);
    work.wake();
    expect(work.startNextJob()).toBeUndefined();
    expect(work.needsFetch()).toBe(true);
  });

  it("gives every tenth start to the lowest priority", () => {
    const work = createWork({ laneConcurrency: 1 });
    const urgent = Array.from({ length: 25 }, (_, pos) => row(pos, `u${pos}`, { prio: 0 }));
    const bulk = [row(100, "bulk", { prio: 2 }), row(101, "bulk", { prio: 2 })];
    const picks: number[] = [];
    while (picks.length < 20) {
      const order = work.beginFetch();
      const lowest = order.lowest ? bulk.slice(0, 1).map((one) => ({ ...one, lowest: true })) : [];
      work.fetched([...urgent.slice(0, order.limit), ...lowest], order.limit);
      const job = work.startNextJob();
      if (!job) throw new Error("nothing started");
      picks.push(job.prio);
      (job.prio === 0 ? urgent : bulk).shift();
      work.finishJob(job.grp);
    }
    expect(picks.map((prio, index) => (prio === 2 ? index : -1)).filter((index) => index >= 0)).toEqual([
      9, 19,
    ]);
  });

  it("has one slot until its receiver is proven healthy", () => {
    const work = createWork({ slowStart: true, prefetch: 10 });
    answer(work, [row(1, "a"), row(2, "b"), row(3, "c")]);
    expect(startAll(work)).toEqual([1]);
    work.isHealthy = true;
    expect(startAll(work)).toEqual([2, 3]);
  });

  it("reads only the groups that are open", () => {
    const work = createWork();
    work.limitToGroups([]);
    expect(work.isRunnable()).toBe(false);
    work.limitToGroups(["b"]);
    answer(work, [row(1, "a"), row(2, "b")]);
    expect(startAll(work)).toEqual([2]);
    work.limitToGroups(null);
    answer(work, [row(1, "a")]);
    expect(startAll(work)).toEqual([1]);
  });

  it("starts nothing while it is paused", () => {
    const work = createWork({ prefetch: 10 });
    answer(work, [row(1, "a")]);
    work.pause(60_000);
    work.wake();
    work.limitToGroups(null);
    expect(work.isRunnable()).toBe(false);
    expect(work.nextChangeAt()).toBeGreaterThan(performance.now() + 59_000);
  });

  it("runs only the groups outside the pause while it is paused, and all of them afterwards", () => {
    const work = createWork({ unpausedGroups: ["urgent"] });
    answer(work, [row(1, "a"), row(2, "urgent")]);
    work.pause(60_000);
    expect(startAll(work)).toEqual([2]);
    work.finishJob("urgent");
    expect(work.needsFetch()).toBe(true);
    const order = work.beginFetch();
    expect(order.only).toEqual(["urgent"]);
    work.fetched([], order.limit);
    expect(work.isRunnable()).toBe(false);
    work.pause(0);
    answer(work, [row(1, "a")]);
    expect(startAll(work)).toEqual([1]);
  });

  it("runs no closed group during a pause", () => {
    const work = createWork({ unpausedGroups: ["urgent"] });
    work.limitToGroups(["a"]);
    work.pause(60_000);
    expect(work.isRunnable()).toBe(false);
  });

  it("keeps the jobs read for the tenth start over a pause", () => {
    const work = createWork({ unpausedGroups: ["urgent"], laneConcurrency: 12 });
    const lowest = row(99, "campaign", { prio: 2, lowest: true });
    answer(work, [...Array.from({ length: 11 }, (_, n) => row(n + 1, `chat ${n}`)), lowest]);
    for (let n = 0; n < 9; n++) work.startNextJob();
    work.finishJob("chat 0", {});
    work.pause(60_000);
    answer(work, []);
    work.pause(0);
    expect(work.startNextJob()?.pos).toBe(99);
  });

  it("waits at the tenth start for the read that brings the lowest priority", () => {
    const work = createWork({ laneConcurrency: 12 });
    answer(
      work,
      Array.from({ length: 12 }, (_, n) => row(n + 1, `chat ${n}`)),
    );
    for (let n = 0; n < 9; n++) work.startNextJob();
    work.finishJob("chat 0", {});
    const order = work.beginFetch();
    expect([order.lowest, work.startNextJob()]).toEqual([true, undefined]);
    work.fetched([row(99, "campaign", { prio: 2, lowest: true })], order.limit);
    expect(work.startNextJob()?.pos).toBe(99);
  });

  it("continues at once when a job that it waits for was changed", () => {
    const work = createWork({ prefetch: 10 });
    work.pause(60_000);
    work.wake(true);
    answer(work, [row(1, "a")]);
    expect(startAll(work)).toEqual([1]);
  });
});
