import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../test/database.ts";
import { createGate } from "../../test/gate.ts";
import { drawFromSeed } from "../../test/run/draw-from-seed.ts";
import { openDatabase } from "../platform/db/database.ts";
import { writeJobDispositions } from "./job-store.ts";
import { addLane, deleteStaleNodes, lockOwnedLanes, removeLane } from "./lane-store.ts";
import { type ClaimLanesQuery, claimLanes, releaseLanes } from "./lanes/claim-lanes.ts";

const { url, database, drop } = await createTestDatabase();
const { db, pool } = database;
afterAll(drop);

beforeEach(async () => {
  await pool.query("truncate node, lane, job");
});

const order = (node: string, more: Partial<ClaimLanesQuery> = {}): ClaimLanesQuery => ({
  node,
  kinds: ["k"],
  dead: [],
  includeOwn: false,
  excluded: [],
  limit: 50,
  ...more,
});

async function addLanes(count: number, owner: string | null = null): Promise<void> {
  await pool.query(
    "insert into lane (kind, key, owner) select 'k', n::text, $2 from generate_series(1, $1) n",
    [count, owner],
  );
}

async function addNode(id: string, dead: boolean): Promise<void> {
  await pool.query("insert into node (id, boot, dead, roles) values ($1, 1, $2, '{}')", [id, dead]);
}

async function addJob(lane: number): Promise<number> {
  const { rows } = await pool.query(
    "insert into job (lane, prio, pos, grp, ref) values ($1, 1, 1, 'g', '{}') returning id",
    [lane],
  );
  return rows[0].id;
}

describe("lanes", () => {
  it("are created once per kind and key, however many nodes ask at the same time", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => addLane(db, "k", "same")));
    expect(new Set(ids).size).toBe(1);
    expect(await addLane(db, "k", "other")).not.toBe(ids[0]);
    expect(await addLane(db, "other", "same")).not.toBe(ids[0]);
  });

  it("are deleted when they are removed", async () => {
    await removeLane(db, await addLane(db, "k", "1"));
    expect((await pool.query("select from lane")).rowCount).toBe(0);
  });

  it("are claimed if they have no owner, under a higher epoch each time, up to a given number", async () => {
    await addLanes(3);
    const first = await claimLanes(db, order("a", { limit: 2 }));
    expect(first.map((lane) => lane.epoch)).toEqual([1, 1]);
    expect(await claimLanes(db, order("b"))).toHaveLength(1);
    await releaseLanes(db, "a");
    const again = await claimLanes(db, order("b"));
    expect(again.map((lane) => lane.epoch)).toEqual([2, 2]);
  });

  it("are not claimed when the request excludes their kind, their id or their owner", async () => {
    await addLanes(2, "living");
    const foreign = await addLane(db, "foreign kind", "1");
    const free = await addLane(db, "k", "free");
    await addNode("living", false);
    expect(await claimLanes(db, order("a", { excluded: [free] }))).toEqual([]);
    expect(await claimLanes(db, order("a", { candidates: [foreign] }))).toEqual([]);
    expect(await claimLanes(db, order("a", { candidates: [free] }))).toHaveLength(1);
  });

  it("of an earlier boot of the same node are claimed only on request", async () => {
    await addLanes(2, "a");
    expect(await claimLanes(db, order("a"))).toEqual([]);
    expect(await claimLanes(db, order("a", { includeOwn: true }))).toHaveLength(2);
  });

  it("are released by their owner: all of them, only some, or all except those of a kind", async () => {
    const lanes = await Promise.all(["1", "2"].map((key) => addLane(db, "k", key)));
    lanes.push(await addLane(db, "other", "1"));
    const claimAll = () => claimLanes(db, order("a", { kinds: ["k", "other"] }));
    const owned = async () => {
      const { rows } = await pool.query("select id from lane where owner is not null order by id");
      return rows.map(({ id }) => id);
    };
    await claimAll();
    await releaseLanes(db, "b");
    await releaseLanes(db, "a", { only: lanes.slice(0, 1) });
    expect(await owned()).toEqual(lanes.slice(1));
    await releaseLanes(db, "a", { keep: ["other"] });
    expect(await owned()).toEqual(lanes.slice(2));
    await releaseLanes(db, "a");
    expect(await owned()).toEqual([]);
  });
});

describe("two nodes that claim the lanes of a dead node", () => {
  it("never both get a lane, even when one commits between the other's snapshot and row lock", async () => {
    await addNode("gone", true);
    await addLanes(10, "gone");
    const role = `taker_${randomBytes(4).toString("hex")}`;
    // A policy that sleeps stops this role's statement within its scan.
    await pool.query(`
      create role ${role}; grant all on all tables in schema public to ${role};
      create function pass_gate() returns boolean volatile language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(4711); return true; end $$;
      alter table lane enable row level security;
      create policy gate on lane to ${role} using (pass_gate())`);
    const slow = openDatabase(`${url}?options=-c%20role%3D${role}`);
    const keeper = await pool.connect();
    try {
      await keeper.query("select pg_advisory_lock(4711)");
      const second = claimLanes(slow.db, order("b", { dead: ["gone"] }));
      const isWaiting = () =>
        pool.query(`select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted
          and database = (select oid from pg_database where datname = current_database())`);
      await expect.poll(async () => (await isWaiting()).rowCount).toBe(1);
      const first = await claimLanes(db, order("a", { dead: ["gone"] }));
      await keeper.query("select pg_advisory_unlock(4711)");
      expect([first.length, (await second).length]).toEqual([10, 0]);
      expect((await pool.query("select distinct owner, epoch from lane")).rows).toEqual([
        { owner: "a", epoch: 1 },
      ]);
    } finally {
      keeper.release();
      await slow.close();
      await pool.query(`drop policy gate on lane; alter table lane disable row level security;
        drop owned by ${role}; drop role ${role}`);
    }
  });

  it("claim every lane exactly once, however they race", async () => {
    await addNode("gone", true);
    await addLanes(400, "gone");
    const got: number[] = [];
    const take = async (node: string): Promise<void> => {
      for (let lanes = [{ id: 0 }]; lanes.length > 0; ) {
        lanes = await claimLanes(db, order(node, { dead: ["gone"], limit: 7 }));
        got.push(...lanes.map((lane) => lane.id));
      }
    };
    await Promise.all(["a", "b", "c", "d"].map(take));
    expect(got).toHaveLength(400);
    expect(new Set(got).size).toBe(400);
    expect((await pool.query("select distinct epoch from lane")).rows).toEqual([{ epoch: 1 }]);
  });

  it("get no lane of a node that has started again", async () => {
    await addNode("gone", true);
    await addLanes(3, "gone");
    await pool.query("update node set dead = false, boot = 2");
    expect(await claimLanes(db, order("a", { dead: ["gone"] }))).toEqual([]);
  });
});

describe("the fence", () => {
  it("rejects the write of an owner that lost its lane, and of an old epoch beside a new one", async () => {
    await addLanes(2);
    const [first, second] = await claimLanes(db, order("a"));
    if (!first || !second) throw new Error("no lanes");
    const jobs = [await addJob(first.id), await addJob(second.id)] as const;
    await pool.query("update lane set owner = 'b', epoch = epoch + 1 where id = $1", [first.id]);
    const fates = [
      { job: jobs[0], lane: first, retry: null },
      { job: jobs[1], lane: second, retry: null },
    ];
    expect(await writeJobDispositions(db, "a", fates)).toEqual([false, true]);
    expect((await pool.query("select id from job")).rows).toEqual([{ id: jobs[0] }]);

    await pool.query("update lane set owner = 'a', epoch = epoch + 1 where id = $1", [first.id]);
    const other = await addJob(first.id);
    const mixed = [
      { job: jobs[0], lane: first, retry: null },
      {
        job: other,
        lane: { id: first.id, epoch: 3 },
        retry: { delay_ms: 3_600_000, attempts: 4, grp: "job:1" },
      },
    ];
    expect(await writeJobDispositions(db, "a", mixed)).toEqual([false, true]);
    const { rows } = await pool.query(
      "select id, attempts, grp, run_at > now() + interval '30 minutes' as later from job",
    );
    expect(rows.sort((a, b) => a.id - b.id)).toEqual([
      { id: jobs[0], attempts: 0, grp: "g", later: false },
      { id: other, attempts: 4, grp: "job:1", later: true },
    ]);
  });

  it("keeps a lane from being claimed until the write of its owner is committed", async () => {
    await addNode("a", true);
    await addLanes(1);
    const [lane] = await claimLanes(db, order("a"));
    if (!lane) throw new Error("no lane");
    const isHeld = createGate();
    const mayCommit = createGate();
    const write = db.transaction().execute(async (trx) => {
      const { rows } = await lockOwnedLanes("a", [lane]).execute(trx);
      isHeld.open();
      await mayCommit.opened;
      return rows;
    });
    await isHeld.opened;
    expect(await claimLanes(db, order("b", { dead: ["a"] }))).toEqual([]);
    mayCommit.open();
    expect(await write).toEqual([{ id: lane.id, epoch: 1 }]);
    expect(await claimLanes(db, order("b", { dead: ["a"] }))).toHaveLength(1);
    expect(await lockOwnedLanes("a", [lane]).execute(db)).toMatchObject({ rows: [] });
  });

  it("lets batches over the same lanes in any order commit without a deadlock beside claims", async () => {
    await addLanes(200);
    let owner = "a";
    let lanes = await claimLanes(db, order(owner, { limit: 200 }));
    let isOver = false;
    const random = drawFromSeed();
    const write = async (turn: number): Promise<number> => {
      const own = random.fork(String(turn));
      let written = 0;
      for (; !isOver; written++) {
        const places = new Map(lanes.map((lane) => [lane, own.next()]));
        const shuffled = lanes.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
        await writeJobDispositions(
          db,
          owner,
          await Promise.all(shuffled.map((lane) => ({ job: 0, lane, retry: null }))),
        );
      }
      return written;
    };
    const writers = [1, 2, 3, 4].map(write);
    for (let turn = 0; turn < 60; turn++) {
      await releaseLanes(db, owner);
      owner = owner === "a" ? "b" : "a";
      lanes = await claimLanes(db, order(owner, { limit: 200 }));
    }
    isOver = true;
    for (const written of await Promise.all(writers)) expect(written).toBeGreaterThan(0);
  });
});

describe("the row of a node that is gone", () => {
  it("may be missing: the lanes of an owner without a row can be claimed", async () => {
    await addLanes(2, "vanished");
    await deleteStaleNodes(db);
    expect((await pool.query("select id, dead from node")).rows).toEqual([{ id: "vanished", dead: true }]);
    expect(await claimLanes(db, order("a", { dead: ["vanished"] }))).toHaveLength(2);
  });

  it("is deleted a day after the node's last start, once no lane names the node", async () => {
    for (const id of ["old", "old with a lane", "living", "young"]) await addNode(id, id !== "living");
    await pool.query("update node set started_at = now() - interval '25 hours' where id <> 'young'");
    await addLanes(1, "old with a lane");
    await deleteStaleNodes(db);
    const { rows } = await pool.query("select id from node order by id");
    expect(rows.map((row) => row.id)).toEqual(["living", "old with a lane", "young"]);
  });
});
