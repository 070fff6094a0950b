import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../test/database.ts";
import {
  addJobs,
  type FetchJobsQuery,
  fetchJobs,
  fetchLaneJobs,
  findLanesWithJobs,
  type NewJob,
  singleJobGroup,
} from "./job-store.ts";

const { database, drop } = await createTestDatabase();
const { db, pool } = database;
afterAll(drop);

beforeEach(async () => {
  await pool.query("truncate job");
});

const job = (lane: number, pos: number, grp: string, more: Partial<NewJob> = {}): NewJob => ({
  lane,
  prio: 1,
  pos,
  grp,
  ref: { pos },
  ...more,
});
const inAMinute = () => new Date(Date.now() + 60_000);

const order = (lane: number, more: Partial<FetchJobsQuery> = {}): FetchJobsQuery => ({
  lane,
  limit: 10,
  skip: [],
  only: null,
  lowest: false,
  ...more,
});

const readers = [
  ["together with other lanes", fetchJobs],
  ["alone", (db_: typeof db, orders: readonly FetchJobsQuery[]) => fetchLaneJobs(db_, orders[0] ?? order(0))],
] as const;

describe.each(readers)("jobs of a lane that is read %s", (_, read) => {
  const positions = async (wanted: FetchJobsQuery): Promise<number[]> => {
    const rows = await read(db, [wanted]);
    return rows.sort((a, b) => a.prio - b.prio || a.pos - b.pos).map((row) => row.pos);
  };

  it("are the first by prio and pos outside the groups to skip", async () => {
    await addJobs(db, [
      job(1, 5, "a"),
      job(1, 2, "b"),
      job(1, 3, "c"),
      job(1, 9, "a", { prio: 0 }),
      job(2, 1, "a"),
    ]);
    expect(await positions(order(1, { limit: 2 }))).toEqual([9, 2]);
    expect(await positions(order(1, { limit: 2, skip: ["b"] }))).toEqual([9, 3]);
    expect(await positions(order(1, { only: ["a", "c"], skip: ["c"] }))).toEqual([9, 5]);
  });

  it("include the head of a group that is not due, but no job without a group that is not due", async () => {
    await addJobs(db, [
      job(1, 1, "a", { run_at: inAMinute() }),
      job(1, 2, singleJobGroup(7), { run_at: inAMinute() }),
      job(1, 3, singleJobGroup(8)),
      job(1, 4, "a"),
    ]);
    const rows = await read(db, [order(1)]);
    const byPos = rows.sort((a, b) => a.pos - b.pos);
    expect(byPos.map((row) => row.pos)).toEqual([1, 3, 4]);
    expect(byPos[0]?.wait_ms).toBeGreaterThan(0);
    expect(byPos[1]?.wait_ms).toBeLessThanOrEqual(0);
  });

  it("include the first of the lowest priority when asked, if it heads its group", async () => {
    await addJobs(
      db,
      [1, 2, 3].map((pos) => job(1, pos, `g${pos}`, { prio: 0 })),
    );
    await addJobs(db, [job(1, 8, "bulk", { prio: 2 }), job(1, 9, "bulk", { prio: 2 }), job(1, 7, "c")]);
    const lowest = async (more: Partial<FetchJobsQuery>): Promise<number[]> =>
      (await read(db, [order(1, { limit: 1, ...more })])).filter((row) => row.lowest).map((row) => row.pos);
    expect(await lowest({})).toEqual([]);
    expect(await lowest({ lowest: true })).toEqual([8]);
    expect(await lowest({ lowest: true, skip: ["bulk"] })).toEqual([7]);
    await addJobs(db, [job(1, 0, "bulk", { prio: 0 })]);
    expect(await lowest({ lowest: true })).toEqual([]);
  });
});

describe("jobs", () => {
  it("of several lanes are read in one statement, each with its own limits", async () => {
    await addJobs(db, [job(1, 1, "a"), job(1, 2, "b"), job(2, 1, "a"), job(2, 2, "b"), job(3, 1, "a")]);
    const rows = await fetchJobs(db, [order(1, { limit: 1 }), order(2, { skip: ["a"] })]);
    expect(rows.map((row) => [row.lane, row.pos]).sort()).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(rows[0]).toMatchObject({ attempts: 0, max_attempts: null, ref: { pos: 1 } });
  });

  it("report for idle lanes whether there is a job to read", async () => {
    await addJobs(db, [
      job(1, 1, "a"),
      job(2, 1, singleJobGroup(1), { run_at: inAMinute() }),
      job(3, 1, "a"),
    ]);
    expect((await findLanesWithJobs(db, [1, 2, 4])).sort()).toEqual([1]);
  });

  it("are found behind a long backlog of many waiting groups", async () => {
    await pool.query(`insert into job (lane, prio, pos, grp, ref)
      select 1, 1, n, 'w' || n % 2000, '{}' from generate_series(1, 50000) n`);
    await addJobs(db, [job(1, 60_000, "free")]);
    await pool.query("analyze job");
    const skip = Array.from({ length: 2_000 }, (_, n) => `w${n}`);
    expect((await fetchLaneJobs(db, order(1, { skip }))).map((row) => row.pos)).toEqual([60_000]);
  });
});
