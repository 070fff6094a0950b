import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { AddedJob, FetchJobsQuery, JobRow } from "../job-store.ts";
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

function added(pos: number, grp: string, prio = 1): AddedJob {
  lastId += 1;
  return { id: lastId, lane: 1, prio, pos, grp, run_at: new Date(), ref: {} };
}

/** The rows that the database returns. */
function returnRows(work: OwnedLane, rows: JobRow[], order: FetchJobsQuery = work.beginFetch()): void {
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

const NOW = 1_000;
/** A clock that tests advance. */
let now = NOW;
beforeEach(() => {
  now = NOW;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

describe("the dispatch of one lane", () => {
  it("starts at most `width` jobs, one of each group, oldest first", () => {
    const work = createWork({ prefetch: 20 });
    returnRows(work, [row(2, "b"), row(1, "a"), row(3, "a"), row(4, "c"), row(5, "d"), row(6, "e")]);
    expect(startAll(work)).toEqual([1, 2, 4, 5]);
  });

  it("skips the groups that are busy, waiting or read already", () => {
    const work = createWork({ prefetch: 3 });
    returnRows(work, [row(1, "busy"), row(2, "waiting", { wait_ms: 5_000 }), row(3, "busy")]);
    expect(startAll(work)).toEqual([1]);
    const order = work.beginFetch();
    expect([...order.skip].sort()).toEqual(["busy", "waiting"]);
    expect(order.limit).toBe(3);
  });

  it("makes a group wait if its first job is not due, and starts none of its later jobs", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(1, "a", { wait_ms: 5_000 }), row(2, "a"), row(3, "b")]);
    expect(startAll(work)).toEqual([3]);
    expect(work.nextChangeAt()).toBe(NOW + 5_000);
  });

  it("does not start a job behind another one that is not due", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(1, "a"), row(2, "a", { wait_ms: 5_000 }), row(3, "a")]);
    expect(startAll(work)).toEqual([1]);
    work.finishJob("a");
    expect(startAll(work)).toEqual([]);
    expect(work.needsFetch()).toBe(true);
    expect(work.nextChangeAt()).toBeUndefined();
  });

  it("ignores what a read returns of a group that was started during the read", () => {
    const work = createWork({ prefetch: 4, laneConcurrency: 2 });
    const rows = [row(1, "a"), row(2, "a"), row(3, "a"), row(4, "a")];
    returnRows(work, rows);
    expect(work.startNextJob()?.pos).toBe(1);
    const order = work.beginFetch();
    work.finishJob("a");
    expect(work.startNextJob()?.pos).toBe(2);
    work.finishJob("a");
    // The snapshot is older than both ends.
    work.fetched([...rows, row(5, "b")], order.limit);
    expect(startAll(work)).toEqual([3, 5]);
    expect(work.needsFetch()).toBe(true);
  });

  it("does not lose a wake-up that arrives while a read is in progress", () => {
    const work = createWork();
    const order = work.beginFetch();
    work.wake();
    work.fetched([], order.limit);
    expect(work.isRunnable()).toBe(true);
    returnRows(work, []);
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
    returnRows(work, [row(1, "a"), row(2, "a"), row(3, "b")]);
    expect(startAll(work)).toEqual([1, 3]);
    work.finishJob("a", { waitMs: 5_000 });
    work.finishJob("b");
    expect(startAll(work)).toEqual([]);
    expect(work.beginFetch().skip).toEqual(["a"]);
    expect(work.nextChangeAt()).toBe(NOW + 5_000);
  });

  it("continues with the jobs it has read when a job is done", () => {
    const work = createWork({ prefetch: 10, laneConcurrency: 2 });
    returnRows(work, [row(1, "a"), row(2, "a")]);
    work.startNextJob();
    work.finishJob("a");
    expect(work.needsFetch()).toBe(false);
    expect(work.startNextJob()?.pos).toBe(2);
  });

  it("without lookahead holds no job that an urgent job could overtake", () => {
    const work = createWork();
    returnRows(work, [row(1, "a"), row(2, "a"), row(3, "b")]);
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
    returnRows(work, [row(1, "a"), row(2, "b"), row(3, "c")]);
    expect(startAll(work)).toEqual([1]);
    work.isHealthy = true;
    expect(startAll(work)).toEqual([2, 3]);
  });

  it("reads only the groups that are open", () => {
    const work = createWork();
    work.limitToGroups([]);
    expect(work.isRunnable()).toBe(false);
    work.limitToGroups(["b"]);
    returnRows(work, [row(1, "a"), row(2, "b")]);
    expect(startAll(work)).toEqual([2]);
    work.limitToGroups(null);
    returnRows(work, [row(1, "a")]);
    expect(startAll(work)).toEqual([1]);
  });

  it("starts nothing while it is paused", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(1, "a")]);
    work.pause(60_000);
    work.wake();
    work.limitToGroups(null);
    expect(work.isRunnable()).toBe(false);
    expect(work.nextChangeAt()).toBe(NOW + 60_000);
  });

  it("runs only the groups outside the pause while it is paused, and all of them afterwards", () => {
    const work = createWork({ unpausedGroups: ["urgent"] });
    returnRows(work, [row(1, "a"), row(2, "urgent")]);
    work.pause(60_000);
    expect(startAll(work)).toEqual([2]);
    work.finishJob("urgent");
    work.wake();
    expect(work.needsFetch()).toBe(true);
    const order = work.beginFetch();
    expect(order.only).toEqual(["urgent"]);
    work.fetched([], order.limit);
    expect(work.isRunnable()).toBe(false);
    work.pause(0);
    returnRows(work, [row(1, "a")]);
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
    returnRows(work, [...Array.from({ length: 11 }, (_, n) => row(n + 1, `chat ${n}`)), lowest]);
    for (let n = 0; n < 9; n++) work.startNextJob();
    work.finishJob("chat 0", {});
    work.pause(60_000);
    returnRows(work, []);
    work.pause(0);
    expect(work.startNextJob()?.pos).toBe(99);
  });

  it("waits at the tenth start for the read that brings the lowest priority", () => {
    const work = createWork({ laneConcurrency: 12 });
    returnRows(
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
    returnRows(work, [row(1, "a")]);
    expect(startAll(work)).toEqual([1]);
  });
});

describe("a lane that was just claimed", () => {
  it("is closed to jobs until it is opened, and then reads first", () => {
    const kind: LaneKind = {
      kind: "k",
      role: "worker",
      laneConcurrency: 1,
      run: async () => ({ end: "done" }),
    };
    const work = new OwnedLane({ id: 1, kind: "k", key: "1", epoch: 1 }, kind);
    expect([work.isQueued, work.isOpen, work.isClosed, work.isRunnable()]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    work.isOpen = true;
    expect([work.needsFetch(), work.isRunnable()]).toEqual([true, true]);
  });
});

describe("the reads of a lane", () => {
  it("do not overlap, also after a wake-up", () => {
    const work = createWork();
    const { limit } = work.beginFetch();
    work.wake();
    expect(work.needsFetch()).toBe(false);
    work.fetched([], limit);
    expect(work.needsFetch()).toBe(true);
  });

  it("are repeated after one that failed", () => {
    const work = createWork();
    work.beginFetch();
    work.fetchFailed();
    expect(work.needsFetch()).toBe(true);
  });

  it("continue while they return as many jobs as asked for, apart from the lowest priority", () => {
    const work = createWork({ laneConcurrency: 2 });
    returnRows(work, [row(1, "a"), row(2, "b")]);
    expect(work.needsFetch()).toBe(true);
    const order = work.beginFetch();
    work.fetched([row(3, "c"), row(4, "d", { lowest: true })], order.limit);
    expect(work.needsFetch()).toBe(false);
  });

  it("ask for what fits into the free slots once jobs are read ahead", () => {
    const work = createWork({ prefetch: 10, laneConcurrency: 2 });
    returnRows(work, [row(1, "a"), row(2, "b"), row(3, "c")]);
    work.startNextJob();
    work.wake();
    expect(work.beginFetch().limit).toBe(1);
  });

  it("ask for the lowest priority only if the tenth start is among the next ones", () => {
    const work = createWork({ laneConcurrency: 4 });
    expect(work.beginFetch().lowest).toBe(false);
    work.fetched([row(1, "a")], 4);
    work.startNextJob();
    work.finishJob("a");
    expect(work.beginFetch().lowest).toBe(false);
  });

  it("forget a job of the lowest priority, since jobs before it may have changed", () => {
    const work = createWork();
    returnRows(work, [row(9, "campaign", { lowest: true })]);
    expect(work.startNextJob()).toBeUndefined();
    expect(work.beginFetch().skip).toEqual([]);
  });

  it("keep a job once, however often it is read", () => {
    const work = createWork({ prefetch: 10, laneConcurrency: 1 });
    const rows = [row(1, "a")];
    returnRows(work, rows);
    work.wake();
    const order = work.beginFetch();
    work.fetched(rows, order.limit);
    expect(startAll(work)).toEqual([1]);
    work.finishJob("a");
    expect(work.startNextJob()).toBeUndefined();
  });

  it("sort what they return behind and before what was read already", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(5, "b")]);
    work.wake();
    returnRows(work, [row(7, "c"), row(1, "a")]);
    expect(startAll(work)).toEqual([1, 5, 7]);
  });

  it("sort jobs of the same position by their age", () => {
    const work = createWork({ prefetch: 10 });
    const [older, younger] = [row(1, "a"), row(1, "b")];
    returnRows(work, [younger, older]);
    expect(work.startNextJob()?.id).toBe(older.id);
  });

  it("find the first job of a group in any order of the rows", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(2, "a"), row(1, "a", { wait_ms: 5_000 })]);
    expect(startAll(work)).toEqual([]);
  });

  it("begin again after a pause, and after a change of the open groups", () => {
    const work = createWork();
    returnRows(work, []);
    work.pause(60_000);
    work.pause(0);
    expect(work.needsFetch()).toBe(true);
    returnRows(work, []);
    work.limitToGroups(null);
    expect(work.needsFetch()).toBe(true);
  });

  it("keep what is read ahead at a wake-up", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(1, "a")]);
    work.wake();
    expect(work.startNextJob()?.pos).toBe(1);
  });
});

describe("the end of a job", () => {
  it("causes no read if the last read had all jobs of its group", () => {
    const work = createWork();
    returnRows(work, [row(1, "a"), row(2, "b")]);
    startAll(work);
    work.finishJob("a");
    work.finishJob("b");
    expect(work.needsFetch()).toBe(false);
    expect(work.nextPollAction()).toBe("ask");
  });

  it("causes a read if jobs of its group were dropped when it started", () => {
    const work = createWork();
    returnRows(work, [row(1, "a"), row(2, "a"), row(3, "b")]);
    startAll(work);
    work.finishJob("b");
    expect(work.needsFetch()).toBe(false);
    work.finishJob("a");
    expect(work.needsFetch()).toBe(true);
  });

  it("causes a read if a read left its group out, because the job was running", () => {
    const work = createWork();
    returnRows(work, [row(1, "a"), row(2, "b")]);
    startAll(work);
    work.wake();
    returnRows(work, []);
    expect(work.needsFetch()).toBe(false);
    work.finishJob("a");
    expect(work.needsFetch()).toBe(true);
  });

  it("causes a read if the read that left its group out is still in progress", () => {
    const work = createWork();
    returnRows(work, [row(1, "a")]);
    startAll(work);
    work.wake();
    const order = work.beginFetch();
    work.finishJob("a");
    work.fetched([], order.limit);
    expect(work.needsFetch()).toBe(true);
  });

  it("causes a read if a read left its group out, because its jobs were read ahead", () => {
    const work = createWork({ prefetch: 10, laneConcurrency: 1 });
    returnRows(work, [row(1, "a"), row(2, "a")]);
    work.wake();
    returnRows(work, []);
    work.startNextJob();
    work.finishJob("a");
    expect(work.needsFetch()).toBe(false);
    work.startNextJob();
    work.finishJob("a");
    expect(work.needsFetch()).toBe(true);
  });

  it("causes no read if a later read has covered its group", () => {
    const work = createWork();
    returnRows(work, [row(1, "a"), row(2, "a")]);
    startAll(work);
    work.finishJob("a");
    returnRows(work, [row(2, "a")]);
    startAll(work);
    work.finishJob("a");
    expect(work.needsFetch()).toBe(false);
  });

  it("causes a read if its row may still exist", () => {
    const work = createWork();
    returnRows(work, [row(1, "a")]);
    startAll(work);
    work.finishJob("a", {});
    expect(work.needsFetch()).toBe(true);
  });
});

describe("an added job", () => {
  it("starts without a read, in the order of its lane", () => {
    const work = createWork();
    returnRows(work, []);
    work.add(added(5, "b"));
    work.add(added(7, "c", 0));
    work.add(added(3, "a"));
    expect(work.needsFetch()).toBe(false);
    expect(startAll(work)).toEqual([7, 3, 5]);
    for (const grp of ["a", "b", "c"]) work.finishJob(grp);
    expect(work.needsFetch()).toBe(false);
  });

  it("is read with the others if the lane has jobs to read", () => {
    const work = createWork();
    work.add(added(1, "a"));
    expect([work.startNextJob(), work.needsFetch()]).toEqual([undefined, true]);
  });

  it("is read with the others if a read is in progress, which may not have seen it", () => {
    const work = createWork();
    const order = work.beginFetch();
    work.add(added(2, "a"));
    work.fetched([row(1, "a")], order.limit);
    expect(startAll(work)).toEqual([1]);
    expect(work.needsFetch()).toBe(true);
  });

  it("of a running group is read when the group is free", () => {
    const work = createWork();
    returnRows(work, [row(1, "a")]);
    startAll(work);
    work.add(added(2, "a"));
    expect([work.needsFetch(), startAll(work)]).toEqual([false, []]);
    work.finishJob("a");
    expect(work.needsFetch()).toBe(true);
  });

  it("of a waiting group is left to the end of the wait", () => {
    const work = createWork();
    returnRows(work, [row(1, "a", { wait_ms: 60_000 })]);
    work.add(added(2, "a"));
    expect([work.needsFetch(), startAll(work)]).toEqual([false, []]);
  });

  it("of a group with a job ahead is read with it, since the order of both may have changed", () => {
    const work = createWork();
    returnRows(work, []);
    work.add(added(1, "a"));
    work.add(added(2, "a", 0));
    expect([startAll(work), work.needsFetch()]).toEqual([[], true]);
  });

  it("waits for the end of a pause, and for the read that follows", () => {
    const work = createWork({ unpausedGroups: ["urgent"] });
    returnRows(work, []);
    work.pause(60_000);
    work.add(added(1, "urgent"));
    expect([work.startNextJob(), work.needsFetch()]).toEqual([undefined, true]);
    returnRows(work, []);
    work.add(added(2, "a"));
    work.pause(0);
    expect([work.startNextJob(), work.needsFetch()]).toEqual([undefined, true]);
  });

  it("of a closed group does not start", () => {
    const work = createWork();
    work.limitToGroups(["b"]);
    returnRows(work, []);
    work.add(added(1, "a"));
    work.limitToGroups(null);
    expect([work.startNextJob(), work.needsFetch()]).toEqual([undefined, true]);
  });

  it("of a running group is kept with lookahead, behind the jobs of the group that are ahead", () => {
    const work = createWork({ prefetch: 4 });
    returnRows(work, []);
    for (const pos of [1, 2, 3]) work.add(added(pos, "a"));
    expect(startAll(work)).toEqual([1]);
    work.add(added(4, "a"));
    for (const pos of [2, 3, 4]) {
      work.finishJob("a");
      expect([startAll(work), work.needsFetch()]).toEqual([[pos], false]);
    }
  });

  it("of a running group is read if the last read has skipped the group", () => {
    const work = createWork({ prefetch: 4 });
    returnRows(work, [row(1, "a")]);
    expect(startAll(work)).toEqual([1]);
    work.wake();
    returnRows(work, []);
    work.add(added(3, "a"));
    work.finishJob("a");
    expect([startAll(work), work.needsFetch()]).toEqual([[], true]);
    returnRows(work, [row(2, "a"), row(3, "a")]);
    expect(startAll(work)).toEqual([2]);
  });

  it("is read again if a read may have returned it before, since it may have run", () => {
    const work = createWork({ prefetch: 4 });
    const job = added(1, "a");
    returnRows(work, [row(1, "a", { id: job.id })]);
    expect(startAll(work)).toEqual([1]);
    work.finishJob("a");
    work.add(job);
    expect([startAll(work), work.needsFetch()]).toEqual([[], true]);
    returnRows(work, []);
    expect(startAll(work)).toEqual([]);
  });

  it("is not kept beyond what the lane can run at once", () => {
    const work = createWork({ laneConcurrency: 2 });
    returnRows(work, []);
    for (const grp of ["a", "b", "c"]) work.add(added(1, grp));
    expect([startAll(work), work.needsFetch()]).toEqual([[], true]);
  });
});

describe("the next job of a lane", () => {
  it("is not started while no slot is free", () => {
    const work = createWork({ laneConcurrency: 1 });
    returnRows(work, [row(1, "a"), row(2, "b")]);
    work.startNextJob();
    expect([work.needsFetch(), work.isRunnable()]).toEqual([true, false]);
  });

  it("is the most urgent one, and at the tenth start the first of the least urgent ones", () => {
    const work = createWork({ laneConcurrency: 12 });
    const urgent = Array.from({ length: 10 }, (_, n) => row(n, `u${n}`, { prio: 0 }));
    returnRows(work, [...urgent, row(100, "x", { prio: 2 }), row(101, "y", { prio: 2 })]);
    const started = Array.from({ length: 11 }, () => work.startNextJob()?.pos);
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 9]);
  });

  it("at the tenth start does not wait for a read during a pause", () => {
    const work = createWork({ unpausedGroups: ["urgent"], laneConcurrency: 12 });
    const chats = Array.from({ length: 9 }, (_, n) => row(n, `chat ${n}`));
    returnRows(work, [...chats, row(9, "urgent")]);
    for (const _ of chats) work.startNextJob();
    work.wake(false);
    work.pause(60_000);
    const order = work.beginFetch();
    work.fetched([row(10, "urgent")], order.limit);
    work.beginFetch();
    expect(work.startNextJob()?.pos).toBe(10);
  });
});

describe("the waits of a lane", () => {
  it("end with their time, and the others go on", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [
      row(1, "over", { wait_ms: 10 }),
      row(2, "longer", { wait_ms: 120_000 }),
      row(3, "long", { wait_ms: 60_000 }),
    ]);
    expect(work.needsFetch()).toBe(false);
    now += 10;
    work.expireWaits();
    expect(work.needsFetch()).toBe(true);
    expect(work.beginFetch().skip.toSorted()).toEqual(["long", "longer"]);
    expect(work.nextChangeAt()).toBe(NOW + 60_000);
  });

  it("cause no read before one of them is over", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(1, "a", { wait_ms: 60_000 })]);
    work.expireWaits();
    expect(work.needsFetch()).toBe(false);
    expect(work.nextChangeAt()).toBe(NOW + 60_000);
  });

  it("include a pause, which ends with a read", () => {
    const work = createWork();
    returnRows(work, []);
    work.pause(60_000);
    work.expireWaits();
    expect(work.nextChangeAt()).toBe(NOW + 60_000);
    work.pause(0);
    returnRows(work, []);
    work.pause(10);
    now += 10;
    work.expireWaits();
    expect([work.nextChangeAt(), work.needsFetch()]).toEqual([undefined, true]);
  });

  it("cause no read if there are none", () => {
    const work = createWork();
    returnRows(work, []);
    work.expireWaits();
    expect(work.needsFetch()).toBe(false);
  });
});

describe("the poll of a lane without a read to do", () => {
  const waitingRow = () => row(1, "waiting", { wait_ms: 60_000 });

  it("asks the database whether there is a job", () => {
    const work = createWork();
    returnRows(work, []);
    expect(work.nextPollAction()).toBe("ask");
  });

  it("reads if some groups of the lane are busy, waiting or paused", () => {
    const busy = createWork();
    returnRows(busy, [row(1, "busy")]);
    busy.startNextJob();
    expect(busy.nextPollAction()).toBe("read");
    const waiting = createWork();
    returnRows(waiting, [waitingRow()]);
    expect(waiting.nextPollAction()).toBe("read");
    const both = createWork();
    returnRows(both, [waitingRow(), row(2, "busy")]);
    both.startNextJob();
    expect(both.nextPollAction()).toBe("read");
    const paused = createWork({ unpausedGroups: ["urgent"] });
    returnRows(paused, []);
    paused.pause(60_000);
    expect(paused.nextPollAction()).toBe("read");
  });

  it("reads as soon as a slot is free if all are busy, since added jobs may keep them busy", () => {
    const full = createWork({ laneConcurrency: 1 });
    returnRows(full, []);
    full.add(added(1, "a"));
    full.startNextJob();
    expect(full.nextPollAction()).toBe("read");
  });

  it("does nothing if the lane cannot start a job", () => {
    const paused = createWork();
    returnRows(paused, []);
    paused.pause(60_000);
    const limited = createWork();
    limited.limitToGroups([]);
    returnRows(limited, []);
    const unopened = createWork();
    returnRows(unopened, []);
    unopened.isOpen = false;
    const closed = createWork();
    returnRows(closed, []);
    closed.close();
    for (const work of [paused, limited, unopened, closed]) expect(work.nextPollAction()).toBe("nothing");
  });

  it("does nothing if a read is due or in progress", () => {
    const work = createWork();
    expect(work.nextPollAction()).toBe("nothing");
    work.beginFetch();
    expect(work.nextPollAction()).toBe("nothing");
  });
});

describe("a reserved group", () => {
  it("occupies a slot, and no read returns it, until the job ends", () => {
    const work = createWork({ laneConcurrency: 1 });
    returnRows(work, []);
    expect(work.reserve("a")).toBe(true);
    expect(work.isIdle()).toBe(false);
    work.wake();
    expect(work.isRunnable()).toBe(false);
    expect(work.beginFetch().skip).toEqual(["a"]);
    work.fetched([], 1);
    work.finishJob("a");
    // The read has left out the group.
    expect(work.needsFetch()).toBe(true);
  });

  it("causes no read when its only job has ended", () => {
    const work = createWork();
    returnRows(work, []);
    work.reserve("a");
    work.finishJob("a");
    expect([work.isIdle(), work.needsFetch()]).toEqual([true, false]);
    expect(work.reserve("a")).toBe(true);
  });

  it("is read after a cancellation, since its job may be there all the same", () => {
    const work = createWork();
    returnRows(work, []);
    work.reserve("a");
    work.finishJob("a", {});
    expect(work.needsFetch()).toBe(true);
  });

  it("keeps the jobs of its group that are added meanwhile behind its own", () => {
    const work = createWork();
    returnRows(work, []);
    work.reserve("a");
    work.add(added(2, "a"));
    work.add(added(3, "b"));
    expect(startAll(work)).toEqual([3]);
    work.finishJob("a");
    returnRows(work, [row(2, "a")]);
    expect(startAll(work)).toEqual([2]);
  });

  it("is not started by a read that began before it", () => {
    const work = createWork();
    returnRows(work, []);
    work.wake();
    const order = work.beginFetch();
    expect(work.reserve("a")).toBe(true);
    work.fetched([row(1, "a"), row(2, "b")], order.limit);
    expect(startAll(work)).toEqual([2]);
    expect(work.needsFetch()).toBe(true);
  });

  it("leaves a quarter of the slots to jobs that may not have been read", () => {
    const work = createWork();
    returnRows(work, []);
    work.wake();
    expect(["a", "b", "c", "d"].map((grp) => work.reserve(grp))).toEqual([true, true, true, false]);
    returnRows(work, []);
    expect(work.reserve("d")).toBe(true);
  });

  const isReserved = (prepare: (work: OwnedLane) => void, options: Partial<LaneKind> = {}) => {
    const work = createWork(options);
    returnRows(work, []);
    prepare(work);
    return work.reserve("a");
  };

  it.each<[string, (work: OwnedLane) => void]>([
    ["is not open", (work) => (work.isOpen = false)],
    ["is lost", (work) => work.close()],
    ["is paused", (work) => work.pause(60_000)],
    ["runs other groups only", (work) => work.limitToGroups(["b"])],
    ["has another job to start", (work) => work.add(added(1, "b"))],
    ["runs a job of the group", (work) => work.reserve("a")],
    ["has no free slot", reserveAllSlots],
    ["has a job of the group that is not due", waitInGroup],
  ])("is refused if the lane %s", (_, prepare) => {
    expect(isReserved(() => {})).toBe(true);
    expect(isReserved(prepare)).toBe(false);
  });

  function reserveAllSlots(work: OwnedLane): void {
    for (const grp of ["b", "c", "d", "e"]) work.reserve(grp);
  }

  function waitInGroup(work: OwnedLane): void {
    work.add(added(1, "a"));
    work.startNextJob();
    work.finishJob("a", { waitMs: 60_000 });
  }
});

describe("the end of a lane", () => {
  it("comes after its last job", async () => {
    const work = createWork();
    await work.whenIdle();
    returnRows(work, [row(1, "a"), row(2, "b")]);
    startAll(work);
    const ended: string[] = [];
    const idle = work.whenIdle().then(() => ended.push("idle"));
    work.finishJob("a");
    await turn();
    ended.push("a");
    expect(work.isIdle()).toBe(false);
    work.finishJob("b");
    await idle;
    expect(ended).toEqual(["a", "idle"]);
    expect(work.isIdle()).toBe(true);
  });

  it("drops what it has read", () => {
    const work = createWork({ prefetch: 10 });
    returnRows(work, [row(1, "a")]);
    work.close();
    expect([work.isClosed, work.isRunnable(), work.startNextJob()]).toEqual([true, false, undefined]);
  });
});
