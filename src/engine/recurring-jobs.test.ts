import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createEngineStory } from "../../test/stories/engine/engine-story.ts";
import { openDatabase } from "../platform/db/database.ts";
import { createEngine, type Engine } from "./engine.ts";
import { type RecurringJob, registerRecurringJobs } from "./recurring-jobs.ts";

const story = await createEngineStory();
const { database } = story;
const engines: Engine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop({ graceMs: 100 })));
  await story.rest();
});
afterAll(story.close);

async function startNode(id: string, jobs: RecurringJob[], on = database): Promise<Engine> {
  const times = { heartbeatMs: 100, deadAfterMs: 6_000, selfFenceMs: 5_000, pollMs: 50 };
  const engine = createEngine({
    database: on,
    log: story.log,
    node_id: id,
    roles: ["worker"],
    claimImmediately: true,
    ...times,
  });
  engines.push(engine);
  registerRecurringJobs(engine, on.db, jobs);
  await engine.start();
  return engine;
}

async function runAts(): Promise<Record<string, Date>> {
  const { rows } = await database.pool.query("select grp, run_at from job");
  return Object.fromEntries(rows.map((row) => [row.grp, row.run_at]));
}

describe("recurring jobs", () => {
  it("run once per interval on any number of nodes", async () => {
    const times = new Set<number>();
    let runs = 0;
    const run = async () => {
      runs += 1;
      for (const at of Object.values(await runAts())) times.add(at.getTime());
    };
    const tick = { name: "tick", everyMs: 200, run };
    await Promise.all(["a", "b", "c"].map((id) => startNode(id, [tick])));
    await expect.poll(() => runs).toBeGreaterThanOrEqual(6);
    // One run for each due time, an interval apart.
    expect(times.size).toBeGreaterThanOrEqual(runs - 1);
    const sorted = [...times].toSorted((a, b) => a - b);
    for (const [nth, at] of sorted.slice(1).entries()) expect(at - (sorted[nth] ?? 0)).toBeGreaterThan(198);
    expect(Object.keys(await runAts())).toEqual(["tick"]);
  });

  it("are added even when another node takes longer to add them than a batch may wait", async () => {
    const impatient = openDatabase(story.url, { lockTimeoutMs: 100 });
    const other = await database.pool.connect();
    await other.query("begin");
    await other.query("select pg_advisory_xact_lock(hashtext('waygate schedules'))");
    const starting = startNode("a", [{ name: "tick", everyMs: 60_000, run: async () => {} }], impatient);
    starting.catch(() => {});
    const waited = `select from pg_locks join pg_database d on d.oid = database
      where datname = current_database() and locktype = 'advisory' and not granted
        and clock_timestamp() - waitstart > interval '200 ms'`;
    await expect.poll(async () => (await database.pool.query(waited)).rowCount).toBe(1);
    await other.query("commit");
    other.release();
    const engine = await starting;
    expect(Object.keys(await runAts())).toEqual(["tick"]);
    await engine.stop({ graceMs: 100 });
    await impatient.close();
  });

  it("continue on another node when their node stops", async () => {
    const runs: string[] = [];
    const tickOn = (id: string): RecurringJob => ({
      name: "tick",
      everyMs: 50,
      run: async () => void runs.push(id),
    });
    const first = await startNode("a", [tickOn("a")]);
    await expect.poll(() => runs).toContain("a");
    await startNode("b", [tickOn("b")]);
    await first.stop();
    await expect.poll(() => runs.at(-1)).toBe("b");
  });

  it("continue after a run that throws and is logged, and do not delay each other", async () => {
    const runs: string[] = [];
    await startNode("a", [
      {
        name: "bad",
        everyMs: 50,
        async run() {
          runs.push("bad");
          throw new Error("a bug of ours");
        },
      },
      { name: "long", everyMs: 50, run: () => new Promise(() => {}) },
      { name: "good", everyMs: 50, run: async () => void runs.push("good") },
    ]);
    await expect.poll(() => runs.filter((name) => name === "bad").length).toBeGreaterThan(2);
    await expect.poll(() => runs.filter((name) => name === "good").length).toBeGreaterThan(2);
    expect(story.lines.filter((line) => line.err?.message === "a bug of ours").length).toBeGreaterThan(1);
  });

  it("do not make up for missed runs, and keep a shorter interval from the next start on", async () => {
    const quiet = (everyMs: number): RecurringJob => ({ name: "tick", everyMs, run: async () => {} });
    const first = await startNode("a", [quiet(3_600_000)]);
    const tickAt = async () => (await runAts()).tick?.getTime() ?? 0;
    await expect.poll(tickAt).toBeGreaterThan(Date.now());
    await first.stop();
    const runs: number[] = [];
    await database.pool.query("update job set run_at = now() + interval '1 hour'");
    const before = await tickAt();
    await startNode("b", [{ name: "tick", everyMs: 300, run: async () => void runs.push(Date.now()) }]);
    expect(await tickAt()).toBeLessThan(before);
    await expect.poll(() => runs.length).toBeGreaterThanOrEqual(1);
    await engines[1]?.stop();
    runs.length = 0;
    await database.pool.query("update job set run_at = now() - interval '1 day'");
    await startNode("c", [{ name: "tick", everyMs: 300_000, run: async () => void runs.push(Date.now()) }]);
    await expect.poll(tickAt).toBeGreaterThan(Date.now());
    expect(runs).toHaveLength(1);
  });

  it("of another version are not changed", async () => {
    const first = await startNode("a", [{ name: "theirs", everyMs: 3_600_000, run: async () => {} }]);
    await expect.poll(async () => (await runAts()).theirs?.getTime()).toBeGreaterThan(Date.now());
    await first.stop();
    await database.pool.query("update job set run_at = now()");
    await startNode("b", [{ name: "ours", everyMs: 3_600_000, run: async () => {} }]);
    await expect.poll(async () => (await runAts()).theirs?.getTime()).toBeGreaterThan(Date.now());
    expect(Object.keys(await runAts()).sort()).toEqual(["ours", "theirs"]);
  });
});
