import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createGate } from "../../test/gate.ts";
import { createEngineStory } from "../../test/stories/engine/engine-story.ts";
import type { Engine, Job, JobReservation, JobResult, LaneKind } from "./engine.ts";
import { type AddedJob, singleJobGroup } from "./job-store.ts";
import { removeLane } from "./lane-store.ts";

const story = await createEngineStory();
const { database } = story;
afterEach(story.rest);
afterAll(story.close);

const DONE: JobResult = { end: "done" };

function note<T>(list: T[], item: T): JobResult {
  list.push(item);
  return DONE;
}

function kindOf(run: LaneKind["run"], more: Partial<LaneKind> = {}): LaneKind {
  return { kind: "k", role: "worker", laneConcurrency: 4, run, ...more };
}

const inMs = (ms: number): Date => new Date(Date.now() + ms);
const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** An engine that no longer polls, with a lane whose first job has run. */
async function startWithLane(run: LaneKind["run"]) {
  const engine = await story.start("a", [kindOf(run)], { pollMs: 60_000 });
  const lane = await story.lane("k", "one", [{}]);
  engine.wake([lane]);
  await expect.poll(story.jobsLeft).toBe(0);
  return { engine, lane };
}

/** A lane stays busy for a moment after its last job is deleted. */
async function reserveSoon(engine: Engine, lane: number, grp: string): Promise<JobReservation | undefined> {
  let place: JobReservation | undefined;
  await expect
    .poll(() => {
      place = engine.reserve(lane, grp);
      return place;
    })
    .toBeDefined();
  return place;
}

describe("the engine", () => {
  it("runs jobs in their lane and deletes them when they are done", async () => {
    const jobs: Job[] = [];
    const engine = await story.start("a", [kindOf(async (job) => note(jobs, job))]);
    const lane = await story.lane("k", "one", [{ prio: 2, ref: { hello: 1 }, max_attempts: 5 }]);
    engine.wake([lane]);
    await expect.poll(() => jobs.length).toBe(1);
    expect(jobs[0]).toMatchObject({
      prio: 2,
      pos: 0,
      grp: "g",
      attempts: 0,
      max_attempts: 5,
      ref: { hello: 1 },
    });
    expect(jobs[0]?.lane).toEqual({ id: lane, kind: "k", key: "one", epoch: 1 });
    expect(engine.findOwnedLane("k", "one")).toEqual(jobs[0]?.lane);
    expect(engine.findOwnedLane("k", "two")).toBeUndefined();
    await expect.poll(story.jobsLeft).toBe(0);
  });

  it("runs a dispatched job without reading its row", async () => {
    const ran: Job[] = [];
    const { engine, lane } = await startWithLane(async (job) => note(ran, job));
    // During a read the lane takes no job without a read.
    const added: AddedJob[] = [];
    const dispatchAnother = async () => {
      const pos = added.length + 1;
      await story.add(lane, [{ pos, grp: `g${pos}`, run_at: inMs(3_600_000) }]);
      const row = await database.db
        .selectFrom("job")
        .selectAll()
        .where("pos", "=", pos)
        .executeTakeFirstOrThrow();
      added.push({ ...row, ref: { hello: 1 } });
      engine.dispatch(added.slice(-1));
    };
    await expect
      .poll(async () => {
        if (ran.length < 2) await dispatchAnother();
        return ran.length;
      })
      .toBeGreaterThan(1);
    const { id, pos, grp } = added.find((job) => job.id === ran[1]?.id) ?? {};
    expect(ran[1]).toMatchObject({ id, pos, grp, attempts: 0, ref: { hello: 1 } });
    expect(ran[1]?.lane).toEqual(ran[0]?.lane);
  });

  it("runs a reserved job by the given function, and frees its group with the job's end", async () => {
    const [ran, started]: [Job[], Job[]] = [[], []];
    const { engine, lane } = await startWithLane(async (job) => note(ran, job));
    expect(engine.reserve(lane + 1, "g")).toBeUndefined();
    const place = await reserveSoon(engine, lane, "g");
    expect(engine.reserve(lane, "g")).toBeUndefined();
    await story.add(lane, [{ pos: 1, ref: { hello: 1 } }]);
    const [row] = await database.db.selectFrom("job").selectAll().execute();
    if (row) place?.run({ ...row, ref: { hello: 1 } }, async (job) => note(started, job));
    await expect.poll(story.jobsLeft).toBe(0);
    expect(started[0]).toMatchObject({ id: row?.id, pos: 1, grp: "g", attempts: 0, ref: { hello: 1 } });
    expect([started[0]?.lane, place?.lane]).toEqual([ran[0]?.lane, ran[0]?.lane]);
    place?.cancel();
    expect(await reserveSoon(engine, lane, "g")).not.toBe(place);
    expect(ran).toHaveLength(1);
  });

  it("reads the job of a cancelled reservation", async () => {
    const ran: number[] = [];
    const { engine, lane } = await startWithLane(async (job) => note(ran, job.pos));
    const place = await reserveSoon(engine, lane, "g");
    await story.add(lane, [{ pos: 1 }]);
    place?.cancel();
    await expect.poll(story.jobsLeft).toBe(0);
    expect(ran).toEqual([0, 1]);
  });

  it("waits at its stop for a job whose place is reserved", async () => {
    const { engine, lane } = await startWithLane(async () => DONE);
    const place = await reserveSoon(engine, lane, "g");
    const ended: string[] = [];
    const stopping = engine.stop().then(() => ended.push("stop"));
    expect(engine.reserve(lane, "h")).toBeUndefined();
    await story.add(lane, [{ pos: 1 }]);
    const [row] = await database.db.selectFrom("job").selectAll().execute();
    const run = async () => note(ended, "job");
    if (row) place?.run({ ...row, ref: {} }, run);
    await stopping;
    expect([ended, await story.jobsLeft()]).toEqual([["job", "stop"], 0]);
  });

  it("notifies the owner of a lane of a job that another node dispatches", async () => {
    const ran: number[] = [];
    const { lane } = await startWithLane(async (job) => note(ran, job.pos));
    const other = await story.start("b", [], { pollMs: 60_000 });
    await expect.poll(() => other.countLiveNodes("worker")).toBe(2);
    await story.add(lane, [{ pos: 1 }]);
    const [row] = await database.db.selectFrom("job").selectAll().execute();
    if (row) other.dispatch([{ ...row, ref: {} }]);
    await expect.poll(story.jobsLeft).toBe(0);
    expect(ran).toEqual([0, 1]);
  });

  it("finds a job by polling without a notification, even if its lane empties on the insert", async () => {
    const ran: number[] = [];
    const engine = await story.start("a", [kindOf(async (job) => note(ran, job.pos))], { pollMs: 30 });
    const lane = await story.lane("k", "one");
    engine.wake([lane]);
    for (const pos of range(60)) {
      await story.add(lane, [{ pos, grp: `g${pos % 3}` }]);
      if (pos % 2) engine.wake([lane]);
      else if (pos % 4) await expect.poll(() => ran.length).toBe(pos + 1);
    }
    await expect.poll(() => ran.length).toBe(60);
    expect(ran.toSorted((a, b) => a - b)).toEqual(range(60));
  });

  it("never runs two jobs of a group at once, nor more than `width` of a lane", async () => {
    const running = new Map<string, number>();
    let most = 0;
    const engine = await story.start("a", [
      kindOf(
        async (job) => {
          expect(running.has(job.grp)).toBe(false);
          running.set(job.grp, job.pos);
          most = Math.max(most, running.size);
          await new Promise(setImmediate);
          running.delete(job.grp);
          return DONE;
        },
        { laneConcurrency: 3 },
      ),
    ]);
    const lane = await story.lane(
      "k",
      "one",
      range(200).map((pos) => ({ pos, grp: `g${pos % 7}` })),
    );
    engine.wake([lane]);
    await expect.poll(story.jobsLeft).toBe(0);
    expect(most).toBe(3);
    expect(story.lines.filter((line) => line.level >= 50)).toEqual([]);
  });

  it("lets an urgent job overtake the other jobs", async () => {
    const gate = createGate();
    const order: number[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      order.push(job.pos);
      if (job.pos < 2) await gate.opened;
      return DONE;
    };
    // A machine that stalls must not cost the node its lane, whose jobs would restart.
    const patient = { deadAfterMs: 3_600_000, selfFenceMs: 600_000 };
    const engine = await story.start("a", [kindOf(run, { laneConcurrency: 2 })], patient);
    const lane = await story.lane(
      "k",
      "one",
      range(50).map((pos) => ({ pos, grp: `g${pos}` })),
    );
    engine.wake([lane]);
    await expect.poll(() => order.length).toBe(2);
    await story.add(lane, [{ pos: 1_000, prio: 0, grp: "urgent" }]);
    engine.wake([lane]);
    gate.open();
    await expect.poll(() => order.length).toBe(51);
    expect(order[2]).toBe(1_000);
  });

  it.each([undefined, 8])("keeps the order within a group under retries (lookahead %s)", async (prefetch) => {
    const done = new Map<string, number[]>();
    const tries = new Map<number, number>();
    const run = async (job: Job): Promise<JobResult> => {
      const tried = tries.get(job.id) ?? 0;
      expect(job.attempts).toBe(tried);
      tries.set(job.id, tried + 1);
      if (tried < job.pos % 3) return { end: "retry", at: inMs(5) };
      done.set(job.grp, [...(done.get(job.grp) ?? []), job.pos]);
      return DONE;
    };
    const engine = await story.start("a", [kindOf(run, { prefetch })]);
    const lane = await story.lane(
      "k",
      "one",
      range(60).map((pos) => ({ pos, grp: `g${pos % 5}` })),
    );
    engine.wake([lane]);
    await expect.poll(story.jobsLeft).toBe(0);
    for (const n of range(5)) expect(done.get(`g${n}`)).toEqual(range(12).map((turn) => turn * 5 + n));
  });

  it("runs the rest of a group while one of its jobs is parked", async () => {
    const order: string[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      order.push(`${job.pos} ${job.grp === "g" ? "g" : "own"}`);
      if (job.pos === 0 && job.attempts === 0) return { end: "retry", at: inMs(3_600_000), parkGroup: true };
      return DONE;
    };
    const engine = await story.start("a", [kindOf(run, { prefetch: 4 })]);
    const lane = await story.lane(
      "k",
      "one",
      range(3).map((pos) => ({ pos })),
    );
    engine.wake([lane]);
    await expect.poll(() => order).toEqual(["0 g", "1 g", "2 g"]);
    await expect.poll(story.jobsLeft).toBe(1);
    await database.pool.query("update job set run_at = now()");
    engine.wake([lane], { changed: true });
    await expect.poll(() => order).toEqual(["0 g", "1 g", "2 g", "0 own"]);
  });

  it("starts no job of a lane during its pause", async () => {
    const pauses: string[] = [];
    const run = async (): Promise<JobResult> => {
      pauses.push("begins");
      setTimeout(() => pauses.push("is over"), 190);
      return { end: "done", pauseLaneMs: 200 };
    };
    const engine = await story.start("a", [kindOf(run, { laneConcurrency: 1 })]);
    engine.wake([
      await story.lane(
        "k",
        "one",
        range(3).map((pos) => ({ pos, grp: `g${pos}` })),
      ),
    ]);
    await expect.poll(() => pauses.length).toBe(6);
    expect(pauses).toEqual(["begins", "is over", "begins", "is over", "begins", "is over"]);
  });

  it("runs only the groups that are open", async () => {
    const order: string[] = [];
    const engine = await story.start("a", [
      kindOf(async (job) => note(order, job.grp), {
        onClaimed: async (lane) => engineRef.current?.limitToGroups(lane.id, []),
      }),
    ]);
    const engineRef = { current: engine };
    const lane = await story.lane("k", "one", [{ grp: "a" }, { grp: "b" }, { grp: "c" }]);
    engine.wake([lane]);
    await expect.poll(() => engine.findOwnedLane("k", "one")).toBeDefined();
    engine.limitToGroups(lane, ["b"]);
    await expect.poll(() => order).toEqual(["b"]);
    engine.limitToGroups(lane, null);
    await expect.poll(() => order).toEqual(["b", "a", "c"]);
  });

  it("frees slot and group of a committed job after `run`, and reads its row again if present", async () => {
    const order: string[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      order.push(`${job.pos}.${job.attempts}`);
      if (job.pos === 0 && job.attempts < 2) {
        const later =
          "update job set attempts = attempts + 1, run_at = now() + interval '20 ms' where id = $1";
        await database.pool.query(later, [job.id]);
        return { end: "committed" };
      }
      await database.pool.query("delete from job where id = $1", [job.id]);
      return { end: "committed", deleted: true };
    };
    const engine = await story.start("a", [kindOf(run, { prefetch: 16 })]);
    engine.wake([
      await story.lane(
        "k",
        "one",
        range(3).map((pos) => ({ pos })),
      ),
    ]);
    await expect.poll(() => order).toEqual(["0.0", "0.1", "0.2", "1.0", "2.0"]);
  });

  it("runs a job of its own group when it is due", async () => {
    const ran: number[] = [];
    const engine = await story.start("a", [kindOf(async (job) => note(ran, job.pos))]);
    const lane = await story.lane("k", "one", [{ pos: 1 }]);
    engine.wake([lane]);
    await expect.poll(() => ran).toEqual([1]);
    const dueAt = inMs(250);
    await story.add(lane, [{ grp: singleJobGroup("x"), run_at: dueAt }]);
    engine.wake([lane]);
    await expect.poll(() => ran).toEqual([1, 0]);
    expect(Date.now()).toBeGreaterThanOrEqual(dueAt.getTime());
  });
});

describe("a job that fails", () => {
  it("is retried later when it throws, and the error is logged", async () => {
    const attempts: number[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      attempts.push(job.attempts);
      if (job.attempts === 0) throw new TypeError("a bug of ours");
      return DONE;
    };
    const engine = await story.start("a", [kindOf(run)]);
    engine.wake([await story.lane("k", "one", [{}])]);
    await expect.poll(() => attempts).toEqual([0, 1]);
    expect(story.lines.find((line) => line.level === 50)?.err?.message).toBe("a bug of ours");
  });

  it("is parked, not abandoned, when it has thrown the maximum number of times", async () => {
    const ran: string[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      // The next attempt, a second later, must not change what is checked below.
      if (job.attempts > 0) await new Promise(() => {});
      ran.push(`${job.pos}`);
      if (job.pos === 0) throw new Error("a bug of ours");
      return DONE;
    };
    const engine = await story.start("a", [kindOf(run)]);
    engine.wake([await story.lane("k", "one", [{ pos: 0, max_attempts: 1 }, { pos: 1 }])]);
    await expect.poll(() => ran).toEqual(["0", "1"]);
    await expect.poll(story.jobsLeft).toBe(1);
    const { rows } = await database.pool.query("select attempts, grp from job");
    expect(rows).toEqual([{ attempts: 1, grp: expect.stringMatching(/^job:\d+$/) }]);
  });

  it("is abandoned on request, or when all its attempts have failed", async () => {
    let tries = 0;
    const run = async (job: Job): Promise<JobResult> => {
      tries += 1;
      return job.pos === 0 ? { end: "give_up", reason: "no use" } : { end: "retry", at: inMs(1) };
    };
    const engine = await story.start("a", [kindOf(run)]);
    engine.wake([await story.lane("k", "one", [{ pos: 0 }, { pos: 1, max_attempts: 3 }])]);
    await expect.poll(story.jobsLeft).toBe(0);
    expect(tries).toBe(4);
    expect(story.lines.filter((line) => line.msg === "a job was abandoned")).toHaveLength(2);
  });
});

describe("many lanes", () => {
  it("all get their turn: 250 busy lanes do not starve 750 others", async () => {
    const gate = createGate();
    const order: { key: number; pos: number }[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      await gate.opened;
      order.push({ key: Number(job.lane.key), pos: job.pos });
      return DONE;
    };
    const kinds = await database.pool.query<{ id: number; key: string }>(
      "insert into lane (kind, key) select 'k', n::text from generate_series(0, 999) n returning id, key",
    );
    const insertJobs = `insert into job (lane, prio, pos, grp, ref)
      select lane.id, 1, n, 'g' || n % 8, '{}' from lane, generate_series(1, 40) n where key::int < 250 or n = 1`;
    await database.pool.query(insertJobs);
    const engine = await story.start("a", [kindOf(run, { nodeConcurrency: 64, prefetch: 16 })]);
    await expect.poll(() => range(1_000).every((n) => engine.findOwnedLane("k", String(n)))).toBe(true);
    expect(kinds.rowCount).toBe(1_000);
    gate.open();
    await expect.poll(() => order.length).toBe(750 + 250 * 40);
    const lastOfQuiet = order.findLastIndex((job) => job.key >= 250);
    const done = new Map<number, number>();
    for (const { key } of order.slice(0, lastOfQuiet)) done.set(key, (done.get(key) ?? 0) + 1);
    // Each round starts one job of each lane, and the lanes claimed first start slightly earlier.
    expect(Math.max(...done.values())).toBeLessThan(12);
  });

  it("continue while the jobs of unproven lanes hang, which get a quarter of the concurrency", async () => {
    const gate = createGate();
    let hanging = 0;
    let ran = 0;
    const run = async (job: Job): Promise<JobResult> => {
      if (job.lane.key.startsWith("dead")) {
        hanging += 1;
        await gate.opened;
        return { end: "done", isHealthy: false };
      }
      ran += 1;
      return { end: "done", isHealthy: true };
    };
    const engine = await story.start("a", [
      kindOf(run, { slowStart: true, nodeConcurrency: 32, prefetch: 8 }),
    ]);
    const healthy = await Promise.all(range(5).map((n) => story.lane("k", `healthy ${n}`, [{}])));
    engine.wake(healthy);
    await expect.poll(() => ran).toBe(5);
    const dead = await Promise.all(range(40).map((n) => story.lane("k", `dead ${n}`, [{}, { grp: "h" }])));
    engine.wake(dead);
    await expect.poll(() => hanging).toBe(8);
    for (const lane of healthy)
      await story.add(
        lane,
        range(100).map((pos) => ({ pos, grp: `g${pos % 6}` })),
      );
    engine.wake(healthy);
    await expect.poll(() => ran).toBe(505);
    await expect.poll(() => engine.inFlight()).toBe(8);
    expect(hanging).toBe(8);
    gate.open();
    await expect.poll(() => hanging).toBe(80);
  });

  it("to an unproven receiver have one slot, then `width`, and one again after a failure", async () => {
    const gates = range(12).map(() => createGate());
    const running: number[] = [];
    const run = async (job: Job): Promise<JobResult> => {
      running.push(job.pos);
      await gates[job.pos]?.opened;
      return {
        end: "done",
        isHealthy: new Map([
          [0, true],
          [4, false],
        ]).get(job.pos),
      };
    };
    const engine = await story.start("a", [kindOf(run, { slowStart: true })]);
    engine.wake([
      await story.lane(
        "k",
        "one",
        range(8).map((pos) => ({ pos, grp: `g${pos}` })),
      ),
    ]);
    await expect.poll(() => running).toEqual([0]);
    gates[0]?.open();
    await expect.poll(() => running).toEqual([0, 1, 2, 3, 4]);
    await expect.poll(() => engine.inFlight()).toBe(4);
    for (const [count, pos] of [4, 1, 2].entries()) {
      gates[pos]?.open();
      await expect.poll(() => engine.inFlight()).toBe(3 - count);
    }
    expect(running).toHaveLength(5);
    gates[3]?.open();
    await expect.poll(() => running).toEqual([0, 1, 2, 3, 4, 5]);
    for (const gate of gates) gate.open();
  });
});

describe("the owner of a lane", () => {
  it("calls the feature's onClaimed before the first job, and onLost once", async () => {
    const calls: string[] = [];
    const engine = await story.start("a", [
      kindOf(async () => note(calls, "job"), {
        onClaimed: async (lane) => void calls.push(`taken ${lane.key}`),
        onLost: async (lane) => void calls.push(`lost ${lane.key}`),
      }),
    ]);
    const lane = await story.lane("k", "one", [{}]);
    engine.wake([lane]);
    await expect.poll(() => calls).toEqual(["taken one", "job"]);
    await removeLane(database.db, lane);
    engine.wake([lane], { changed: true });
    await expect.poll(() => calls).toEqual(["taken one", "job", "lost one"]);
    expect(engine.findOwnedLane("k", "one")).toBeUndefined();
  });

  it("starts anew after `laneLost`, but only after the last job of the old ownership has ended", async () => {
    const gate = createGate();
    const running: number[] = [];
    let ended = 0;
    const run = async (job: Job): Promise<JobResult> => {
      running.push(job.lane.epoch);
      await gate.opened;
      ended += 1;
      return { end: "retry", at: inMs(0) };
    };
    const engine = await story.start("a", [kindOf(run)]);
    const lane = await story.lane("k", "one", [{}]);
    engine.wake([lane]);
    await expect.poll(() => running).toEqual([1]);
    engine.markLaneLost(lane);
    expect(engine.findOwnedLane("k", "one")).toBeUndefined();
    await database.pool.query("update lane set owner = null");
    // After three polls of all lanes the lane is still free.
    const { rows } = await database.pool.query("select heartbeat from node");
    await expect
      .poll(async () => (await database.pool.query("select heartbeat from node")).rows[0].heartbeat)
      .toBeGreaterThan(rows[0].heartbeat + 2);
    expect([running, ended]).toEqual([[1], 0]);
    gate.open();
    // A claim in progress when the lane was lost has raised the epoch again.
    await expect.poll(() => running[1]).toBeGreaterThan(1);
  });

  it("is always a node that has the role", async () => {
    const engine = await story.start("a", [kindOf(async () => DONE, { role: "sessions" })], {
      roles: ["worker"],
    });
    engine.wake([await story.lane("k", "one", [{}])]);
    const other = await story.start("b", [kindOf(async () => DONE, { role: "sessions" })], {
      roles: ["sessions"],
    });
    await expect.poll(() => other.findOwnedLane("k", "one")).toBeDefined();
    expect(engine.findOwnedLane("k", "one")).toBeUndefined();
    await expect.poll(story.jobsLeft).toBe(0);
  });

  it("claims no lane while its process lags behind", async () => {
    const opened: number[] = [];
    const onClaimed: LaneKind["onClaimed"] = async (lane) => void opened.push(lane.id);
    // A stalled process can miss heartbeats; here only a request makes it poll.
    const slow = { heartbeatMs: 60_000, deadAfterMs: 3_600_000, selfFenceMs: 1_800_000 };
    const engine = await story.start("a", [kindOf(async () => DONE, { onClaimed })], slow);
    engine.wake([await story.lane("k", "first")]);
    await expect.poll(() => opened.length).toBe(1);
    let turns = 0;
    // Simulates a process that is busy opening sessions.
    const busy = setInterval(() => {
      for (const until = performance.now() + 130; performance.now() < until; );
      turns += 1;
    }, 0);
    // An earlier poll has ended by then.
    await expect.poll(() => turns).toBeGreaterThan(2);
    const { rows } = await database.pool.query<{ id: number }>(
      "insert into lane (kind, key) select 'k', n::text from generate_series(1, 120) n returning id",
    );
    engine.wake(rows.map((row) => row.id));
    const since = turns;
    await expect.poll(() => turns).toBeGreaterThan(since + 4);
    expect(opened).toHaveLength(1);
    clearInterval(busy);
    await expect.poll(() => opened.length).toBe(121);
  });
});
