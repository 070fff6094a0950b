import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildDist } from "../../test/run/build-dist.ts";
import { createEngineStory } from "../../test/stories/engine/engine-story.ts";
import type { LaneWorkerOptions } from "../../test/stories/engine/lane-worker.ts";

beforeAll(buildDist);

const PROGRAM = fileURLToPath(new URL("../../dist/test/stories/engine/lane-worker.js", import.meta.url));
// Longer than a busy machine pauses a process, so that only the killed node is declared dead.
const TIMES = { heartbeatMs: 200, deadAfterMs: 4_000, selfFenceMs: 3_000 };

/** Thousands of jobs, on a machine that other tests keep busy. */
const LONG = { timeout: 300_000 };
const untilNoJobIsLeft = () => expect.poll(story.jobsLeft, { timeout: 200_000, interval: 200 }).toBe(0);

const story = await createEngineStory();
const { pool } = story.database;
const children: ChildProcess[] = [];

beforeEach(async () => {
  await pool.query(`create table ledger
    (id bigserial, job bigint, lane bigint, grp text, pos bigint, attempts integer, node text)`);
  await pool.query("create table added (job bigint)");
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await story.rest();
  await pool.query("drop table ledger, added");
});
afterAll(story.close);

function startWorker(node_id: string, more: Partial<LaneWorkerOptions>): ChildProcess {
  const options = { url: story.url, node_id, claimImmediately: false, jobMs: 0, times: TIMES, ...more };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

async function count(sql: string): Promise<number> {
  return (await pool.query<{ count: number }>(`select count(*) from ${sql}`)).rows[0]?.count ?? 0;
}

/** First attempts that did not follow the previous job of their group. */
function countOutOfOrder(): Promise<number> {
  const firsts = "select min(id) as id, lane, grp, pos from ledger group by lane, grp, pos";
  const steps = `select pos - lag(pos, 1, 0::bigint) over (partition by lane, grp order by id) as step from (${firsts}) as firsts`;
  return count(`(${steps}) as steps where step <> 1`);
}

/** Jobs `first` to `last` of every group of every lane. */
async function enqueue(first: number, last: number): Promise<void> {
  await pool.query(
    `insert into job (lane, prio, pos, grp, ref)
     select lane.id, 1, pos, 'g' || grp, '{}' from lane, generate_series($1::int, $2::int) pos, generate_series(1, 4) grp`,
    [first, last],
  );
}

describe("a node that is killed", () => {
  it("loses no job, repeats at most the jobs in flight, and keeps every group in order", LONG, async () => {
    const nodeConcurrency = 32;
    await pool.query("insert into lane (kind, key) select 'k', n::text from generate_series(1, 60) n");
    await enqueue(1, 8);
    const first = startWorker("a", { nodeConcurrency, jobMs: 2 });
    await expect.poll(() => count("ledger")).toBeGreaterThan(100);
    startWorker("b", { nodeConcurrency, jobMs: 2 });
    await expect.poll(() => count("ledger")).toBeGreaterThan(700);
    await kill(first);
    await enqueue(9, 12);
    await untilNoJobIsLeft();

    const total = 60 * 4 * 12;
    expect(await count("(select distinct job from ledger) as done")).toBe(total);
    const repeated = (await count("ledger")) - total;
    expect(repeated).toBeLessThanOrEqual(nodeConcurrency);
    expect(await countOutOfOrder()).toBe(0);
    expect((await pool.query("select distinct node from ledger order by node")).rows).toHaveLength(2);
  });

  it("does the same with jobs that it has added and not read back", LONG, async () => {
    const nodeConcurrency = 32;
    await pool.query("insert into lane (kind, key) select 'k', n::text from generate_series(1, 60) n");
    const first = startWorker("a", { nodeConcurrency, jobMs: 2, adds: true });
    await expect.poll(() => count("ledger")).toBeGreaterThan(1_000);
    await kill(first);
    // The only other node is dead already.
    startWorker("b", { nodeConcurrency, jobMs: 2, times: { ...TIMES, deadAfterMs: 500 } });
    await untilNoJobIsLeft();

    expect(await count("added where job not in (select job from ledger)")).toBe(0);
    const repeated = (await count("ledger")) - (await count("added"));
    expect(repeated).toBeLessThanOrEqual(nodeConcurrency);
    expect(await countOutOfOrder()).toBe(0);
  });

  it(
    "uses up no attempt of a job, even when the same job is running at more kills than it has attempts",
    LONG,
    async () => {
      await story.lane("k", "one", [{ max_attempts: 3 }]);
      for (let death = 1; death <= 5; death++) {
        const child = startWorker("a", { claimImmediately: true, jobMs: null });
        await expect.poll(() => count("ledger")).toBe(death);
        await kill(child);
      }
      expect(await count("ledger where attempts > 0")).toBe(0);
      const last = startWorker("a", { claimImmediately: true });
      await untilNoJobIsLeft();
      await kill(last);
    },
  );
});
