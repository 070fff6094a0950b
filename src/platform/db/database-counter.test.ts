import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { type CounterRule, countUse, deleteOldCounts, resetUses, uncountUse } from "./database-counter.ts";

const WINDOW: CounterRule = { limit: 3, wait: "window", seconds: 900 };
const BACKOFF: CounterRule = { limit: 3, wait: "backoff", seconds: 900 };
const counted = (key = "a") => ({ kind: "test", key: Buffer.from(key) });

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => sql`delete from use_counter`.execute(database.database.db));

const inTrx = <T>(
  work: Parameters<ReturnType<TestDatabase["database"]["db"]["transaction"]>["execute"]>[0],
) => database.database.db.transaction().execute(work) as Promise<T>;
const use = (rule: CounterRule, key?: string) => inTrx<number>((trx) => countUse(trx, counted(key), rule));

async function pass(seconds: number): Promise<void> {
  const by = sql`make_interval(secs => ${seconds})`;
  await sql`update use_counter set started_at = started_at - ${by}, last_at = last_at - ${by}`.execute(
    database.database.db,
  );
}

describe("a counter with a window", () => {
  test("allows its limit of uses, then none until the window of the first one has passed", async () => {
    for (let n = 0; n < 3; n++) expect(await use(WINDOW)).toBe(0);
    await pass(300);
    const wait = await use(WINDOW);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(600);
    await pass(601);
    for (let n = 0; n < 3; n++) expect(await use(WINDOW)).toBe(0);
    expect(await use(WINDOW)).toBeGreaterThan(0);
  });

  test("counts each key on its own, and takes back a use", async () => {
    for (let n = 0; n < 3; n++) await use(WINDOW);
    expect(await use(WINDOW, "b")).toBe(0);
    await inTrx((trx) => uncountUse(trx, counted()));
    expect([await use(WINDOW), (await use(WINDOW)) > 0]).toEqual([0, true]);
  });
});

describe("a counter with a back-off", () => {
  test("waits twice as long after each use beyond its limit, up to its longest wait", async () => {
    for (let n = 0; n < 3; n++) await use(BACKOFF);
    for (const [uses, seconds] of [
      [3, 1],
      [9, 64],
      [10, 128],
      [500, 900],
    ] as const) {
      const wait = await inTrx(async (trx) => {
        // The database time is constant within a transaction.
        await sql`update use_counter set uses = ${uses}, last_at = now()`.execute(trx);
        return countUse(trx, counted(), BACKOFF);
      });
      expect(wait).toBe(seconds);
    }
    await pass(901);
    expect(await use(BACKOFF)).toBe(0);
  });

  test("forgets the uses that are reset", async () => {
    for (let n = 0; n < 3; n++) await use(BACKOFF);
    await inTrx((trx) => resetUses(trx, counted()));
    for (let n = 0; n < 3; n++) expect(await use(BACKOFF)).toBe(0);
  });
});

test("uses at the same moment are all counted", async () => {
  const waits = await Promise.all(Array.from({ length: 8 }, () => use(WINDOW)));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
});

test("keys that were last used an hour ago are deleted, twenty at a time", async () => {
  for (let n = 0; n < 25; n++) await use(WINDOW, `old ${n}`);
  await pass(3_601);
  await use(WINDOW, "new");
  const left = async () => (await sql`select from use_counter`.execute(database.database.db)).rows.length;
  await inTrx((trx) => deleteOldCounts(trx));
  expect(await left()).toBe(6);
  await inTrx((trx) => deleteOldCounts(trx));
  expect(await left()).toBe(1);
});
