import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { createEngineStory } from "../../../test/stories/engine/engine-story.ts";
import { DatabaseAvailability } from "../cluster/database-availability.ts";
import { findLostLanes, laneEpochKey } from "../lane-store.ts";
import { claimLanes } from "./claim-lanes.ts";
import { LaneDispatcher } from "./lane-dispatcher.ts";
import type { Lane, LaneKind } from "./lane-kind.ts";
import type { OwnedLane } from "./owned-lane.ts";
import { OwnedLanes, OwnershipCheck } from "./owned-lanes.ts";

const story = await createEngineStory();
const { db, pool } = story.database;
afterAll(() => story.close());
beforeEach(() => story.rest());

it("all lanes of a node open, a few at a time", async () => {
  const keys = Array.from({ length: 50 }, (_, n) => String(n));
  for (const key of keys) await story.lane("test", key);
  const opened = new Set<string>();
  let [opening, most] = [0, 0];
  await story.start("a", [
    {
      kind: "test",
      role: "worker",
      laneConcurrency: 1,
      run: async () => ({ end: "done" }),
      async onClaimed({ key }) {
        most = Math.max(most, ++opening);
        await new Promise((turn) => setTimeout(turn, 2));
        opening -= 1;
        opened.add(key);
      },
    },
  ]);
  await expect.poll(() => opened.size).toBe(keys.length);
  expect(most).toBeLessThanOrEqual(16);
});

/** The lanes of node `a` in its engine, whose dispatcher starts no job. */
function createNode(changed: Partial<LaneKind> & { isPredecessorGone?: boolean } = {}) {
  const { isPredecessorGone = false, ...options } = changed;
  const availability = new DatabaseAvailability(story.log, "test");
  const lost: string[] = [];
  let closed = 0;
  const kind: LaneKind = {
    kind: "k",
    role: "worker",
    laneConcurrency: 1,
    run: async () => ({ end: "done" }),
    onLost: async ({ key }) => void lost.push(key),
    ...options,
  };
  const dispatcher = new LaneDispatcher(kind, {
    db,
    node: "a",
    log: story.log,
    availability,
    mayStart: () => false,
    onLost: () => {},
  });
  const ownedLanes = new OwnedLanes(story.log, new Map([["k", dispatcher]]), () => {
    closed += 1;
  });
  const check = new OwnershipCheck({
    db,
    node: "a",
    ownedLanes,
    availability,
    kinds: () => ["k"],
    isPredecessorGone: () => isPredecessorGone,
  });
  return { ownedLanes, check, lost, closed: () => closed };
}

async function claim(count: number): Promise<Lane[]> {
  for (let n = 0; n < count; n++) await story.lane("k", String(n));
  const order = { node: "a", kinds: ["k"], dead: [], includeOwn: false, excluded: [], limit: 50 };
  return (await claimLanes(db, order)).toSorted((one, other) => one.id - other.id);
}

const LANE: Lane = { id: 7, kind: "k", key: "one", epoch: 1 };

/** Starts a job of the lane. Returns a function that ends it. */
function startJob(work: OwnedLane | undefined): () => void {
  if (!work) throw new Error("The lane is not held.");
  const about = { prio: 1, pos: 1, grp: "g", run_at: new Date(), attempts: 0, max_attempts: null, ref: {} };
  const { limit } = work.beginFetch();
  work.fetched([{ ...about, id: 1, lane: work.lane.id, wait_ms: 0, lowest: false }], limit);
  if (!work.startNextJob()) throw new Error("The job did not start.");
  return () => work.finishJob("g");
}

describe("the lanes of a node", () => {
  it("are found by id and by kind and key from their claim until they are closed", async () => {
    const { ownedLanes } = createNode();
    ownedLanes.claim([LANE, { ...LANE, id: 8, key: "two" }]);
    expect(ownedLanes.get(7)?.lane).toBe(LANE);
    expect(ownedLanes.laneOf("k", "one")).toBe(LANE);
    expect(ownedLanes.laneOf("one", "k")).toBeUndefined();
    expect([ownedLanes.ids(), ownedLanes.all().map(({ lane }) => lane.id)]).toEqual([
      [7, 8],
      [7, 8],
    ]);
    const [work] = ownedLanes.all();
    if (work) await ownedLanes.close(work);
    expect([ownedLanes.get(7), ownedLanes.laneOf("k", "one")]).toEqual([undefined, undefined]);
    expect(ownedLanes.ids()).toEqual([8]);
  });

  it("do not include lanes of a kind that the node does not know", () => {
    const { ownedLanes } = createNode();
    ownedLanes.claim([{ ...LANE, kind: "unknown" }]);
    expect(ownedLanes.ids()).toEqual([]);
  });

  it("open after their feature has claimed them", async () => {
    const mayOpen = createGate();
    const { ownedLanes } = createNode({ onClaimed: () => mayOpen.opened });
    ownedLanes.claim([LANE]);
    const work = ownedLanes.get(7);
    expect(work?.isOpen).toBe(false);
    mayOpen.open();
    await expect.poll(() => work?.isOpen).toBe(true);
  });

  it("open again after a claim that failed, with the lane and the error in the log", async () => {
    let tries = 0;
    const { ownedLanes } = createNode({
      async onClaimed() {
        tries += 1;
        if (tries === 1) throw new Error("not yet");
      },
    });
    ownedLanes.claim([LANE]);
    await expect.poll(() => ownedLanes.get(7)?.isOpen).toBe(true);
    expect(tries).toBe(2);
    expect(story.lines).toMatchObject([
      {
        msg: "a lane could not be opened; it will be retried",
        err: { message: "not yet" },
        lane_kind: "k",
        lane_key: "one",
        epoch: 1,
      },
    ]);
  });

  it("do not open once they are lost", async () => {
    let tries = 0;
    const { ownedLanes } = createNode({
      async onClaimed() {
        tries += 1;
      },
    });
    ownedLanes.claim(Array.from({ length: 17 }, (_, n) => ({ ...LANE, id: n, key: String(n) })));
    await ownedLanes.closeAll();
    expect(tries).toBeLessThan(17);
    expect(ownedLanes.ids()).toEqual([]);
  });
});

describe("a lane that is lost", () => {
  it("stays closed until its last job has ended, also if a request sent before claims it again", async () => {
    const { ownedLanes, lost, closed } = createNode();
    ownedLanes.claim([LANE]);
    const work = ownedLanes.get(7);
    await expect.poll(() => work?.isOpen).toBe(true);
    const end = startJob(work);
    if (work) await ownedLanes.close(work);
    expect([lost, closed()]).toEqual([["one"], 0]);
    ownedLanes.claim([{ ...LANE, epoch: 2 }]);
    expect([ownedLanes.ids(), ownedLanes.closing()]).toEqual([[], [7]]);
    end();
    await expect.poll(closed).toBe(1);
    expect(ownedLanes.closing()).toEqual([]);
    ownedLanes.claim([{ ...LANE, epoch: 3 }]);
    expect(ownedLanes.ids()).toEqual([7]);
  });

  it("is closed once, when its feature has released it", async () => {
    const mayRelease = createGate();
    let released = 0;
    const { ownedLanes } = createNode({
      async onLost() {
        released += 1;
        await mayRelease.opened;
      },
    });
    ownedLanes.claim([LANE]);
    const [work] = ownedLanes.all();
    if (!work) throw new Error("no lane");
    let isClosed = false;
    const closing = ownedLanes.close(work).then(() => {
      isClosed = true;
    });
    await ownedLanes.close(work);
    expect([isClosed, ownedLanes.closing()]).toEqual([false, [7]]);
    mayRelease.open();
    await closing;
    expect(released).toBe(1);
  });

  it("is closed even if its feature throws, with the error in the log", async () => {
    const { ownedLanes, closed } = createNode({
      onLost: async () => {
        throw new Error("still busy");
      },
    });
    ownedLanes.claim([LANE]);
    await ownedLanes.closeAll();
    await expect.poll(closed).toBe(1);
    expect(story.lines).toMatchObject([
      {
        msg: "a lane's onLost handler threw",
        err: { message: "still busy" },
        lane_kind: "k",
        lane_key: "one",
        epoch: 1,
      },
    ]);
  });

  it("is closed also if its feature has nothing to release", async () => {
    const { ownedLanes, closed } = createNode({ onLost: undefined });
    ownedLanes.claim([LANE]);
    await ownedLanes.closeAll();
    await expect.poll(closed).toBe(1);
    expect(story.lines).toEqual([]);
  });

  it("and claimed again unnoticed is closed first", async () => {
    const { ownedLanes, lost } = createNode();
    ownedLanes.claim([LANE]);
    ownedLanes.claim([{ ...LANE, epoch: 3 }]);
    expect([lost, ownedLanes.ids()]).toEqual([["one"], []]);
  });
});

describe("a node that stops", () => {
  it("closes each lane as soon as the lane is idle, and reports it", async () => {
    const { ownedLanes, lost } = createNode();
    ownedLanes.claim([LANE, { ...LANE, id: 8, key: "two" }]);
    await expect.poll(() => ownedLanes.all().every(({ isOpen }) => isOpen)).toBe(true);
    const end = startJob(ownedLanes.get(7));
    const reported: number[] = [];
    const closing = ownedLanes.closeWhenIdle(async (lane) => void reported.push(lane));
    await expect.poll(() => reported).toEqual([8]);
    expect(lost).toEqual(["two"]);
    end();
    await closing;
    expect([reported, lost, ownedLanes.ids()]).toEqual([[8, 7], ["two", "one"], []]);
  });
});

describe("a node that compares its lanes with the database", () => {
  it("closes the lanes that another node owns, that it owns under a newer epoch, or that are gone", async () => {
    const { ownedLanes, check, lost } = createNode();
    const lanes = await claim(4);
    ownedLanes.claim(lanes);
    await pool.query("update lane set owner = 'b', epoch = epoch + 1 where key = '0'");
    await pool.query("update lane set epoch = epoch + 1 where key = '1'");
    await pool.query("delete from lane where key = '2'");
    await check.checkAll();
    expect(lost.toSorted()).toEqual(["0", "1", "2"]);
    expect(ownedLanes.ids()).toEqual([lanes[3]?.id]);
  });

  it("closes only lanes among those that it is to check", async () => {
    const { ownedLanes, check } = createNode();
    ownedLanes.claim(await claim(2));
    await pool.query("update lane set owner = 'b', epoch = epoch + 1");
    const [first] = ownedLanes.all();
    await check.check(first ? [first] : []);
    expect(ownedLanes.ids()).toHaveLength(1);
  });

  it("keeps its lanes, and logs why, if the database does not respond", async () => {
    const { ownedLanes, check } = createNode();
    ownedLanes.claim(await claim(1));
    await pool.query("alter table lane rename to hidden");
    try {
      await check.checkAll();
    } finally {
      await pool.query("alter table hidden rename to lane");
    }
    expect(ownedLanes.ids()).toHaveLength(1);
    expect(story.lines.map(({ msg }) => msg)).toEqual(Array(2).fill("a statement of the engine failed"));
  });

  it("asks the database nothing for no lane", async () => {
    const { check } = createNode();
    await pool.query("alter table lane rename to hidden");
    try {
      await check.check([]);
    } finally {
      await pool.query("alter table hidden rename to lane");
    }
    expect(story.lines).toEqual([]);
  });

  it("releases lanes of kinds that it no longer has, once its earlier boots have ended", async () => {
    const id = await story.lane("former", "1");
    await claim(1);
    await pool.query("update lane set owner = 'a' where id = $1", [id]);
    const ownersOf = async () => (await pool.query("select kind, owner from lane order by id")).rows;
    await createNode().check.checkAll();
    expect(await ownersOf()).toEqual([
      { kind: "former", owner: "a" },
      { kind: "k", owner: "a" },
    ]);
    await createNode({ isPredecessorGone: true }).check.checkAll();
    expect(await ownersOf()).toEqual([
      { kind: "former", owner: null },
      { kind: "k", owner: "a" },
    ]);
  });

  it("marks owners without a row as dead", async () => {
    await story.lane("k", "1");
    await pool.query("update lane set owner = 'vanished'");
    await createNode().check.checkAll();
    expect((await pool.query("select id, dead from node")).rows).toEqual([{ id: "vanished", dead: true }]);
  });
});

describe("the epoch of a lane", () => {
  it("decides, together with the owner, whether a lane is lost", async () => {
    const [first, second] = await claim(2);
    if (!first || !second) throw new Error("no lanes");
    const newer = { id: first.id, epoch: 2 };
    expect(await findLostLanes(db, "a", [first, second])).toEqual([]);
    expect(await findLostLanes(db, "a", [newer, second])).toEqual([newer]);
    expect(await findLostLanes(db, "b", [first])).toEqual([first]);
    expect(laneEpochKey(first)).not.toBe(laneEpochKey(newer));
  });
});
