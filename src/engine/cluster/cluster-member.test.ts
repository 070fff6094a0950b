import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../../test/servers/database-proxy.ts";
import { createEngineStory } from "../../../test/stories/engine/engine-story.ts";
import { isDatabaseUnavailable } from "../../platform/db/database.ts";
import type { Engine, EngineOptions, Job, JobResult, LaneKind } from "../engine.ts";
import { DatabaseAvailability } from "./database-availability.ts";

const story = await createEngineStory();
const { database } = story;
const proxies: DatabaseProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies) proxy.restore();
  await story.rest();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
afterAll(story.close);

const DONE: JobResult = { end: "done" };
const [AWAY, BACK] = ["the database is unavailable", "the database is available again"];
const CHANGES = [AWAY, BACK];
const DEAD_AFTER_MS = 500;
/** Declares others dead quickly, and never gives up its own lanes. Start it when the others are cut off. */
const IMPATIENT: Partial<EngineOptions> = {
  heartbeatMs: 50,
  deadAfterMs: DEAD_AFTER_MS,
  selfFenceMs: 600_000,
};
/** Gives up its own lanes quickly, which a pause of the process can cause too. */
const CAUTIOUS: Partial<EngineOptions> = { heartbeatMs: 50, deadAfterMs: 600_000, selfFenceMs: 300 };

interface Ledger {
  kind: LaneKind;
  ran: string[];
  lost: string[];
}

function createLedger(node: string, run?: (job: Job) => Promise<JobResult>): Ledger {
  const ran: string[] = [];
  const lost: string[] = [];
  const kind: LaneKind = {
    kind: "k",
    role: "worker",
    laneConcurrency: 4,
    async run(job) {
      ran.push(`${node} ${job.lane.key}`);
      return run ? run(job) : DONE;
    },
    onLost: async (lane) => void lost.push(lane.key),
  };
  return { kind, ran, lost };
}

async function startProxyForNode(): Promise<DatabaseProxy> {
  const proxy = await startDatabaseProxy(story.url);
  proxies.push(proxy);
  return proxy;
}

async function laneRow(key: string): Promise<{ owner: string | null; epoch: number }> {
  return (await database.pool.query("select owner, epoch from lane where key = $1", [key])).rows[0];
}

async function nodeRow(id: string): Promise<{ boot: number; dead: boolean; heartbeat: number }> {
  return (await database.pool.query("select boot, dead, heartbeat from node where id = $1", [id])).rows[0];
}

/** Node `a` with one lane, which it owns. */
async function startOwner(kind: LaneKind, options?: Partial<EngineOptions>) {
  const engine = await story.start("a", [kind], options);
  const lane = await story.lane("k", "one");
  engine.wake([lane]);
  await owns(engine, "one");
  return { engine, lane };
}

async function owns(engine: Engine, key: string): Promise<void> {
  await expect.poll(() => engine.findOwnedLane("k", key)).toBeDefined();
}

describe("a node that dies", () => {
  it("is declared dead by the other nodes, which claim its lanes and run its jobs", async () => {
    const proxy = await startProxyForNode();
    const [a, b] = [createLedger("a"), createLedger("b")];
    const { lane } = await startOwner(a.kind, { database: proxy.database });
    proxy.cut();
    await story.start("b", [b.kind], IMPATIENT);
    await story.add(lane, [{}]);
    await expect.poll(() => b.ran).toEqual(["b one"]);
    expect(await nodeRow("a")).toMatchObject({ boot: 1, dead: true });
    expect(await laneRow("one")).toEqual({ owner: "b", epoch: 2 });
    expect(a.ran).toEqual([]);
  });

  it("has closed its lanes by itself before another node can claim them", async () => {
    const proxy = await startProxyForNode();
    const [a, b] = [createLedger("a"), createLedger("b")];
    const happened: string[] = [];
    const kindA: LaneKind = { ...a.kind, onLost: async () => void happened.push("closed by a") };
    const kindB: LaneKind = { ...b.kind, onClaimed: async () => void happened.push("taken by b") };
    const { engine: engineA } = await startOwner(kindA, { ...CAUTIOUS, database: proxy.database });
    proxy.cut();
    happened.length = 0;
    await story.start("b", [kindB], { ...IMPATIENT, deadAfterMs: 1_000 });
    await expect.poll(() => happened).toEqual(["closed by a", "taken by b"]);
    expect(engineA.isSafe()).toBe(false);
  });

  it("starts as a new boot without its earlier lanes when it finds itself declared dead", async () => {
    const [a, b] = [createLedger("a"), createLedger("b")];
    const { engine: engineA } = await startOwner(a.kind);
    // Declared dead although it runs, and its lane claimed by another node.
    const engineB = await story.start("b", [b.kind]);
    await database.pool.query(`with declared as (update node set dead = true where id = 'a')
      update lane set owner = 'b', epoch = epoch + 1`);
    await expect.poll(() => a.lost).toEqual(["one"]);
    await expect.poll(() => engineA.node.boot).toBe(2);
    await expect.poll(() => nodeRow("a")).toMatchObject({ boot: 2, dead: false });
    expect(engineA.isSafe()).toBe(true);
    expect(engineB.isSafe()).toBe(true);
  });

  it("claims its own lanes again, under a new epoch, if no other node has claimed them", async () => {
    const a = createLedger("a");
    const { engine, lane } = await startOwner(a.kind);
    await database.pool.query("update node set dead = true");
    await expect.poll(() => engine.findOwnedLane("k", "one")?.epoch).toBe(2);
    await story.add(lane, [{}]);
    engine.wake([lane]);
    await expect.poll(() => a.ran).toEqual(["a one"]);
  });
});

describe("a node that lost the connection to the database", () => {
  it("closes all lanes when its last successful heartbeat is too old", async () => {
    const proxy = await startProxyForNode();
    const a = createLedger("a");
    const { engine } = await startOwner(a.kind, { ...CAUTIOUS, database: proxy.database });
    await expect.poll(() => engine.isSafe()).toBe(true);
    const { epoch } = await laneRow("one");
    proxy.cut();
    await expect.poll(() => engine.isSafe()).toBe(false);
    await expect.poll(() => a.lost).toContain("one");
    expect(await engine.hasLiveNode("worker")).toBe(false);
    proxy.restore();
    await expect.poll(() => engine.findOwnedLane("k", "one")?.epoch).toBeGreaterThan(epoch);
    await expect.poll(() => engine.isSafe()).toBe(true);
    expect((await nodeRow("a")).boot).toBe(1);
  });

  it("fails statements that wait for a silent database, and continues when it responds", async () => {
    const proxy = await startProxyForNode();
    const { pool } = proxy.database;
    const a = createLedger("a", async () => {
      await pool.query("select 1");
      return DONE;
    });
    const { engine, lane } = await startOwner(a.kind, { ...CAUTIOUS, database: proxy.database });
    const held = await pool.connect();
    proxy.silence();
    await story.add(lane, [{}]);
    engine.wake([lane]);
    expect(await held.query("select 1").catch(isDatabaseUnavailable)).toBe(true);
    held.release();
    await expect.poll(() => a.lost).toContain("one");
    proxy.restore();
    await expect.poll(story.jobsLeft).toBe(0);
    expect((await nodeRow("a")).boot).toBe(1);
  });

  it("fails statements of a silently lost connection, even if heartbeats succeed again soon", async () => {
    const proxy = await startProxyForNode();
    const { pool } = proxy.database;
    await story.start("a", [], { heartbeatMs: 50, selfFenceMs: 600_000, database: proxy.database });
    const [held, idle] = [await pool.connect(), await pool.connect()];
    proxy.silence();
    proxy.restore();
    expect(await held.query("select 1").catch(isDatabaseUnavailable)).toBe(true);
    expect(await idle.query("select 1").catch(isDatabaseUnavailable)).toBe(true);
    for (const client of [held, idle]) client.release();
    const { heartbeat } = await nodeRow("a");
    await expect.poll(async () => (await nodeRow("a")).heartbeat).toBeGreaterThan(heartbeat);
  });

  it("runs no job twice if its result could not be written during the loss", async () => {
    const proxy = await startProxyForNode();
    const gate = createGate();
    const a = createLedger("a", async () => {
      await gate.opened;
      return DONE;
    });
    const engine = await story.start("a", [a.kind], { database: proxy.database, selfFenceMs: 60_000 });
    const lane = await story.lane("k", "one", [{}, { pos: 1 }]);
    engine.wake([lane]);
    await expect.poll(() => a.ran.length).toBe(1);
    proxy.cut();
    gate.open();
    await expect
      .poll(() => story.lines.some((line) => line.name === "engine" && line.level === 40))
      .toBe(true);
    expect(engine.inFlight()).toBe(1);
    proxy.restore();
    await expect.poll(story.jobsLeft).toBe(0);
    expect(a.ran).toHaveLength(2);
  });

  it("logs one line at the loss and one at the recovery, and neither crashes nor spins", async () => {
    const proxy = await startProxyForNode();
    const a = createLedger("a", async () => {
      await proxy.database.pool.query("select 1");
      return DONE;
    });
    const engine = await story.start("a", [a.kind], { database: proxy.database, selfFenceMs: 60_000 });
    const lanes = await Promise.all(["one", "two", "three"].map((key) => story.lane("k", key)));
    engine.wake(lanes);
    await owns(engine, "three");
    const mayRetry = createGate();
    const wait = vi.spyOn(DatabaseAvailability.prototype, "recordFailureAndWait");
    wait.mockImplementation(function (this: DatabaseAvailability, error) {
      this.recordFailure(error);
      return mayRetry.opened;
    });
    proxy.cut();
    // A busy machine may delay a heartbeat before and after.
    story.lines.length = 0;
    for (const lane of lanes) await story.add(lane, [{}]);
    engine.wake(lanes);
    const said = () =>
      ["engine", "heartbeat"].map((name) =>
        story.lines.filter((line) => line.name === name && CHANGES.includes(line.msg)).map(({ msg }) => msg),
      );
    await expect.poll(said).toEqual([[AWAY], [AWAY]]);
    // While its reader waits, only heartbeat and poll continue.
    await expect.poll(() => wait.mock.calls.length).toBeGreaterThan(0);
    const refusedBefore = proxy.refused();
    await expect.poll(() => proxy.refused() - refusedBefore).toBeGreaterThan(5);
    expect(wait.mock.calls.length).toBeLessThanOrEqual(lanes.length);
    expect(said()).toEqual([[AWAY], [AWAY]]);
    proxy.restore();
    mayRetry.open();
    await expect.poll(() => a.ran.length).toBeGreaterThanOrEqual(3);
    await expect.poll(story.jobsLeft).toBe(0);
    await expect.poll(() => said().map((msgs) => msgs.slice(0, 2))).toEqual([CHANGES, CHANGES]);
    expect(story.lines.filter((line) => line.level >= 50)).toEqual([]);
    const { rows } = await database.pool.query("select coalesce(sum(attempts), 0) as sum from job");
    expect(rows).toEqual([{ sum: 0 }]);
  });

  it("continues when the database ends all its connections", async () => {
    const a = createLedger("a");
    const { engine, lane } = await startOwner(a.kind);
    for (let round = 0; round < 3; round++) {
      await story.add(
        lane,
        Array.from({ length: 50 }, (_, n) => ({ pos: n, grp: `g${n % 5}` })),
      );
      engine.wake([lane]);
      await expect.poll(() => a.ran.length).toBeGreaterThan(round * 50 + 5);
      const others =
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = current_database()";
      await database.pool.query(`${others} and pid <> pg_backend_pid()`);
      await expect.poll(() => story.jobsLeft().catch(() => -1)).toBe(0);
    }
    const { heartbeat } = await nodeRow("a");
    await expect.poll(async () => (await nodeRow("a")).heartbeat).toBeGreaterThan(heartbeat);
    expect(engine.isSafe()).toBe(true);
  });
});

describe("several nodes", () => {
  it("wake each other by notifications when another node owns the lane", async () => {
    const [a, b] = [createLedger("a"), createLedger("b")];
    const { engine: engineA, lane } = await startOwner(a.kind, { pollMs: 3_600_000 });
    const engineB = await story.start("b", [b.kind], { pollMs: 3_600_000 });
    await expect.poll(() => engineA.hasLiveNode("worker")).toBe(true);
    await story.add(lane, [{}]);
    engineB.wake([lane]);
    await expect.poll(() => a.ran).toEqual(["a one"]);
    expect(b.ran).toEqual([]);
  });

  it("notify only the owner of a lane, also after the lane has moved", async () => {
    const never = { pollMs: 3_600_000 };
    const [a, b] = [createLedger("a"), createLedger("b")];
    const { engine: engineA, lane } = await startOwner(a.kind, never);
    const engineB = await story.start("b", [b.kind], never);
    const engineC = await story.start("c", [], never);
    await story.start("d", [], never);
    await expect.poll(() => engineC.countLiveNodes("worker")).toBe(4);
    const heard: string[] = [];
    let moves = 0;
    engineC.subscribe("engine.lanes", () => moves++);
    for (const [name, engine] of Object.entries({ a: engineA, b: engineB }))
      engine.subscribe("engine.jobs", () => heard.push(name));
    await story.add(lane, [{}]);
    engineC.wake([lane]);
    await expect.poll(() => a.ran).toEqual(["a one"]);
    await engineA.stop();
    await owns(engineB, "one");
    await expect.poll(() => moves).toBeGreaterThan(0);
    await story.add(lane, [{}]);
    engineC.wake([lane]);
    await expect.poll(() => b.ran).toEqual(["b one"]);
    expect(heard).toEqual(["a", "b"]);
  });

  it("receive the notifications that one of them publishes", async () => {
    const [engineA, engineB] = [await story.start("a", []), await story.start("b", [])];
    const heard: string[] = [];
    engineA.subscribe("outcome", (key) => heard.push(`a ${key}`));
    engineB.subscribe("outcome", (key) => heard.push(`b ${key}`));
    await expect.poll(() => engineA.countLiveNodes("worker")).toBe(2);
    engineA.publish("outcome", "7");
    expect(heard).toEqual(["a 7"]);
    await expect.poll(() => heard).toEqual(["a 7", "b 7"]);
  });

  it("claim the lanes of a node that stops at once, and run no job twice", async () => {
    const slow = { heartbeatMs: 60_000, deadAfterMs: 3_600_000, selfFenceMs: 1_800_000 };
    const gate = createGate();
    const [a, b] = [createLedger("a", () => gate.opened.then(() => DONE)), createLedger("b")];
    const engineA = await story.start("a", [a.kind], slow);
    const lane = await story.lane("k", "one", [{}, { pos: 1 }]);
    engineA.wake([lane]);
    await expect.poll(() => a.ran).toEqual(["a one"]);
    await story.start("b", [b.kind], slow);
    // Without a heartbeat of `b`, only the stopping node can notify it, so `a` must know `b`.
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'waygate heartbeat' and datname = current_database()`,
    );
    await expect.poll(async () => (await nodeRow("a")).heartbeat).toBeGreaterThan(0);
    await expect.poll(async () => (await nodeRow("b")).heartbeat).toBeGreaterThan(0);
    const stopped = engineA.stop();
    expect(engineA.inFlight()).toBe(1);
    expect(b.ran).toEqual([]);
    gate.open();
    await stopped;
    await expect.poll(() => b.ran).toEqual(["b one"]);
    await expect.poll(story.jobsLeft).toBe(0);
    expect([a.ran, a.lost]).toEqual([["a one"], ["one"]]);
    expect(engineA.isSafe()).toBe(false);
    expect(await nodeRow("a")).toMatchObject({ dead: true });
  });

  it("claim the idle lanes of a stopping node while a job of another lane is still running", async () => {
    const gate = createGate();
    const [a, b] = [createLedger("a", () => gate.opened.then(() => DONE)), createLedger("b")];
    const engineA = await story.start("a", [a.kind]);
    const busy = await story.lane("k", "busy", [{}]);
    const idle = await story.lane("k", "idle", []);
    engineA.wake([busy, idle]);
    await expect.poll(() => a.ran).toEqual(["a busy"]);
    await expect.poll(() => engineA.findOwnedLane("k", "idle")).toBeDefined();
    await story.start("b", [b.kind]);
    const stopped = engineA.stop({ graceMs: 600_000 });
    await expect.poll(() => laneRow("idle")).toMatchObject({ owner: "b" });
    expect([engineA.inFlight(), await laneRow("busy")]).toEqual([1, { owner: "a", epoch: 1 }]);
    gate.open();
    await stopped;
    await expect.poll(() => laneRow("busy")).toMatchObject({ owner: "b" });
    expect([a.ran, a.lost.toSorted(), await story.jobsLeft()]).toEqual([["a busy"], ["busy", "idle"], 0]);
  });

  it("do not wait for a job that outlasts the shutdown grace period, and reject its result", async () => {
    const gate = createGate();
    const [a, b] = [
      createLedger("a", () => gate.opened.then(() => DONE)),
      createLedger("b", async () => DONE),
    ];
    const engineA = await story.start("a", [a.kind]);
    engineA.wake([await story.lane("k", "one", [{}])]);
    await expect.poll(() => a.ran).toEqual(["a one"]);
    await engineA.stop({ graceMs: 50 });
    expect(await laneRow("one")).toEqual({ owner: null, epoch: 1 });
    gate.open();
    await expect.poll(() => engineA.inFlight()).toBe(0);
    expect(await story.jobsLeft()).toBe(1);
    await story.start("b", [b.kind]);
    await expect.poll(() => b.ran).toEqual(["b one"]);
  });

  it("can see whether a living node has a role", async () => {
    const proxy = await startProxyForNode();
    const api = await story.start("a", [], { ...IMPATIENT, roles: ["api"] });
    expect(await api.hasLiveNode("api")).toBe(true);
    expect(await api.hasLiveNode("worker")).toBe(false);
    const worker = await story.start("b", [], { roles: ["worker"], database: proxy.database });
    await expect.poll(() => api.hasLiveNode("worker")).toBe(true);
    expect(await worker.hasLiveNode("api")).toBe(true);
    proxy.cut();
    await expect.poll(() => api.hasLiveNode("worker")).toBe(false);
    proxy.restore();
    await expect.poll(() => api.hasLiveNode("worker")).toBe(true);
    await worker.stop();
    await expect.poll(() => api.hasLiveNode("worker")).toBe(false);
  });
});

describe("the lanes of an earlier boot", () => {
  it("are claimed at once at the start when the predecessor is proven dead", async () => {
    await story.lane("k", "one", [{}]);
    await database.pool.query("insert into node (id, boot, roles) values ('a', 4, '{}')");
    await database.pool.query("update lane set owner = 'a', epoch = 9");
    const a = createLedger("a");
    const engine = await story.start("a", [a.kind]);
    await expect.poll(() => a.ran).toEqual(["a one"]);
    expect(engine.node.boot).toBe(5);
    expect(await laneRow("one")).toEqual({ owner: "a", epoch: 10 });
  });

  it("are not claimed before a predecessor that may still run would have closed itself", async () => {
    await story.lane("k", "one", [{}]);
    await database.pool.query("update lane set owner = 'a', epoch = 9");
    const a = createLedger("a");
    let isDead = false;
    setTimeout(() => (isDead = true), DEAD_AFTER_MS);
    await story.start("a", [a.kind], { ...IMPATIENT, claimImmediately: false });
    await expect.poll(() => a.ran).toEqual(["a one"]);
    expect(isDead).toBe(true);
  });
});

describe("a node that starts with fewer roles than before", () => {
  it("releases the lanes that its roles no longer need", async () => {
    await story.lane("k", "one", [{}]);
    await database.pool.query("update lane set owner = 'a', epoch = 9");
    await story.start("a", [createLedger("a").kind], { roles: ["api"] });
    const b = createLedger("b");
    await story.start("b", [b.kind]);
    await expect.poll(() => b.ran).toEqual(["b one"]);
  });
});

describe("the start of a node", () => {
  it("fails completely when the database is unavailable", async () => {
    const proxy = await startProxyForNode();
    proxy.cut();
    await expect(story.start("a", [], { database: proxy.database })).rejects.toThrow();
  });
});
