import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { createEngineStory } from "../../../test/stories/engine/engine-story.ts";
import { DatabaseAvailability } from "../cluster/database-availability.ts";
import type { Engine, EngineOptions, Job, JobResult, LaneKind } from "../engine.ts";
import { LaneDispatcher } from "./lane-dispatcher.ts";
import { LaneRebalancer, RebalanceBackoff } from "./lane-rebalancer.ts";
import { OwnedLanes } from "./owned-lanes.ts";

const story = await createEngineStory();
const { database } = story;
afterEach(story.rest);
afterAll(story.close);

const LANES = Array.from({ length: 12 }, (_, n) => `lane ${n}`);
const DONE: JobResult = { end: "done" };

function kindOf(more: Partial<LaneKind> = {}): LaneKind {
  return { kind: "k", role: "worker", laneConcurrency: 1, run: async () => DONE, ...more };
}

/** Other nodes have this long to claim released lanes. */
const BRIEFLY = { handoverGraceMs: 100, heartbeatMs: 50 };
/** Longer than any delay of a busy machine. */
const LONG = { handoverGraceMs: 120_000, heartbeatMs: 50 };

async function heartbeatsOfFirst(): Promise<number> {
  return (await database.pool.query("select heartbeat from node where id = 'a'")).rows[0].heartbeat;
}

const heldBy = (engine: Engine) => LANES.filter((key) => engine.findOwnedLane("k", key));

async function startWithAll(kind: LaneKind, options: Partial<EngineOptions> = LONG): Promise<Engine> {
  for (const key of LANES) await story.lane("k", key);
  const engine = await story.start("a", [kind], options);
  await expect.poll(() => heldBy(engine).length).toBe(LANES.length);
  return engine;
}

describe("a node that joins", () => {
  it("gets its share of the lanes, each closed before it is opened again", async () => {
    const open = new Set<string>();
    const doubles: string[] = [];
    const kind = kindOf({
      onClaimed: async ({ key }) => {
        if (open.has(key)) doubles.push(key);
        open.add(key);
      },
      onLost: async ({ key }) => void open.delete(key),
    });
    const first = await startWithAll(kind);
    const second = await story.start("b", [kind]);
    await expect.poll(() => heldBy(second).length).toBe(5);
    expect(heldBy(first).length).toBe(7);
    await expect.poll(() => open.size).toBe(LANES.length);
    expect(doubles).toEqual([]);
  });

  it("gets further lanes after it has claimed the first ones", async () => {
    const keys = Array.from({ length: 60 }, (_, n) => `lane ${n}`);
    for (const key of keys) await story.lane("k", key);
    const heldOf = (engine: Engine) => keys.filter((key) => engine.findOwnedLane("k", key)).length;
    const first = await story.start("a", [kindOf()], LONG);
    await expect.poll(() => heldOf(first)).toBe(60);
    const second = await story.start("b", [kindOf()]);
    await expect.poll(() => heldOf(second)).toBe(27);
    expect(heldOf(first)).toBe(33);
  });

  it("gets no lane with a running job, and no job is lost or run twice", async () => {
    const ran: string[] = [];
    const gate = createGate();
    const run = async ({ lane }: Job): Promise<JobResult> => {
      if (lane.key === LANES[0]) await gate.opened;
      ran.push(lane.key);
      return DONE;
    };
    const first = await startWithAll(kindOf({ run }));
    const busy = await story.lane("k", LANES[0] ?? "", [{ pos: 1 }]);
    first.wake([busy]);
    await expect.poll(() => first.inFlight()).toBe(1);
    const second = await story.start("b", [kindOf({ run })]);
    await expect.poll(() => heldBy(second).length).toBe(5);
    expect(heldBy(first)).toContain(LANES[0]);
    for (const key of LANES.slice(1)) second.wake([await story.lane("k", key, [{ pos: 1 }])]);
    gate.open();
    await expect.poll(story.jobsLeft).toBe(0);
    expect(ran.toSorted()).toEqual(LANES.toSorted());
  });
});

describe("lanes that were handed over to a node that joined", () => {
  it("are released only after this node's claim that is under way, which could claim them back", async () => {
    const kind = kindOf();
    const shared = {
      db: database.db,
      node: "a",
      log: story.log,
      availability: new DatabaseAvailability(story.log, "engine"),
    };
    const idle = new LaneDispatcher(kind, { ...shared, mayStart: () => false, onLost: () => {} });
    const ownedLanes = new OwnedLanes(story.log, new Map([["k", idle]]), () => {});
    for (const key of LANES) await story.lane("k", key);
    ownedLanes.claim((await database.pool.query("update lane set owner = 'a' returning *")).rows);
    const countFree = async () =>
      (await database.pool.query("select count(*) from lane where owner is null")).rows[0].count;
    let freeDuringClaim: number | undefined;
    const rebalancer = new LaneRebalancer({
      ...shared,
      ownedLanes,
      kinds: () => [kind],
      others: () => ["b 1"],
      handoverGraceMs: 1,
      whenClaimed: async () => {
        freeDuringClaim = await countFree();
      },
      notifyOthers: () => {},
      recheckOwnership: () => {},
    });
    await rebalancer.check();
    expect(freeDuringClaim).toBe(0);
    expect(await countFree()).toBe(5);
  });

  it("are claimed again by their owner when the database rejected their release", async () => {
    const lost: string[] = [];
    onTestFinished(async () => void (await database.pool.query("drop function refuse cascade")));
    await database.pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
      create trigger refuse before update on lane for each row when (new.owner is null) execute function refuse()`);
    const first = await startWithAll(kindOf({ onLost: async ({ key }) => void lost.push(key) }), BRIEFLY);
    await story.start("b", [kindOf()]);
    await expect.poll(() => lost.length).toBe(5);
    await expect.poll(() => heldBy(first).length).toBe(LANES.length);
  });

  it("are not followed by more lanes if no node claimed them, until another node joins", async () => {
    const lost: string[] = [];
    const first = await startWithAll(kindOf({ onLost: async ({ key }) => void lost.push(key) }), BRIEFLY);
    // Like a version that does not know this kind yet.
    await story.start("b", []);
    await expect.poll(() => lost.length).toBe(5);
    await expect.poll(() => heldBy(first).length).toBe(LANES.length);
    const before = await heartbeatsOfFirst();
    await expect.poll(heartbeatsOfFirst).toBeGreaterThan(before + 20);
    expect(lost.length).toBe(5);
    await story.start("c", [kindOf()]);
    await expect.poll(() => lost.length).toBeGreaterThan(5);
  });
});

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
