import { setImmediate as turn } from "node:timers/promises";
import { Kysely, PostgresDialect } from "kysely";
import { pino } from "pino";
import { expect, it } from "vitest";
import type { Db } from "../../platform/db/database.ts";
import { DatabaseAvailability } from "../cluster/database-availability.ts";
import type { JobRow } from "../job-store.ts";
import { LaneDispatcher } from "./lane-dispatcher.ts";
import type { LaneKind } from "./lane-kind.ts";
import { OwnedLane } from "./owned-lane.ts";

const log = pino({ level: "silent" });
const kind: LaneKind = {
  kind: "k",
  role: "worker",
  laneConcurrency: 4,
  nodeConcurrency: 3,
  run: async () => ({ end: "committed", deleted: true }),
};

/** A database whose reads of jobs return when the test responds. */
function createReads() {
  const reads: { respond(rows: JobRow[]): void; fail(): void }[] = [];
  const query = () =>
    new Promise((resolve, reject) =>
      reads.push({
        respond: (rows) => resolve({ command: "SELECT", rowCount: rows.length, rows }),
        fail: () => reject(Object.assign(new Error("terminating connection"), { code: "57P01" })),
      }),
    );
  const pool = { connect: async () => ({ query, release() {} }), end: async () => {} };
  const db = new Kysely({ dialect: new PostgresDialect({ pool: pool as never }) }) as unknown as Db;
  return { db, reads };
}

function createDispatcher(run: LaneKind["run"] = kind.run) {
  const { db, reads } = createReads();
  const dispatcher = new LaneDispatcher(
    { ...kind, run },
    {
      db,
      node: "a",
      log,
      availability: new DatabaseAvailability(log, "engine"),
      mayStart: () => true,
      onLost: () => {},
    },
  );
  const createLane = (id: number) => {
    const work = new OwnedLane({ id, kind: "k", key: String(id), epoch: 1 }, dispatcher.kind);
    work.isOpen = true;
    return work;
  };
  return { dispatcher, reads, createLane };
}

/** How many more jobs of the lane the node's budget permits. */
function countPlaces(dispatcher: LaneDispatcher, work: OwnedLane): number {
  const places = ["g1", "g2", "g3"].map((grp) => dispatcher.reserve(work, grp));
  for (const place of places) place?.cancel();
  return places.filter((place) => place !== undefined).length;
}

it("a lane that is woken again before its read has begun takes one place of the budget", async () => {
  const { dispatcher, reads, createLane } = createDispatcher();
  const [first, second] = [createLane(1), createLane(2)];
  dispatcher.enqueue(first);
  await expect.poll(() => reads.length).toBe(1);
  dispatcher.enqueue(second);
  await expect.poll(() => second.isQueued).toBe(false);
  dispatcher.enqueue(second);
  await expect.poll(() => second.isQueued).toBe(false);
  reads[0]?.respond([]);
  await expect.poll(() => reads.length).toBe(2);
  reads[1]?.respond([]);
  // The read ends in the same turn.
  await turn();
  expect(countPlaces(dispatcher, first)).toBe(3);
});

it("a lane that is woken while its failed read pauses runs its jobs once the read succeeds", async () => {
  const ran: number[] = [];
  const { dispatcher, reads, createLane } = createDispatcher(async ({ id }) => {
    ran.push(id);
    return { end: "committed", deleted: true };
  });
  const work = createLane(1);
  dispatcher.enqueue(work);
  await expect.poll(() => reads.length).toBe(1);
  reads[0]?.fail();
  await expect.poll(() => work.needsFetch()).toBe(true);
  dispatcher.enqueue(work);
  await expect.poll(() => reads.length).toBe(2);
  const row = { prio: 1, pos: 0, grp: "g", run_at: new Date(), attempts: 0, max_attempts: null, ref: {} };
  reads[1]?.respond([{ ...row, id: 7, lane: 1, wait_ms: 0, lowest: false }]);
  await expect.poll(() => ran).toEqual([7]);
});
