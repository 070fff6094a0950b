import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../test/database.ts";
import { type Db, openDatabase, type Trx } from "./database.ts";
import { LAST_STATEMENT, PREPARED_STATEMENT } from "./prepared-statement.ts";

let store: TestDatabase;
/** One connection, so that its prepared statements can be queried. */
let one: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  store = await createEmptyDatabase();
  one = openDatabase(store.url, { max: 1 });
});

afterAll(async () => {
  await one.close();
  await store.drop();
});

beforeEach(async () => {
  await sql`drop table if exists thing`.execute(one.db);
  await sql`create table thing (id int, name text)`.execute(one.db);
  await sql`insert into thing values (1, 'a'), (2, 'b')`.execute(one.db);
});

async function findThing(id: number, db = one.db): Promise<unknown[]> {
  return (await sql`${PREPARED_STATEMENT}select * from thing where id = ${id}`.execute(db)).rows;
}

async function keptTexts(): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(
    one.db,
  );
  return rows.map(({ statement }) => statement);
}

test("a marked statement is planned once for all values, other statements each time", async () => {
  await sql`select name from thing where id = ${1}`.execute(one.db);
  expect(await findThing(1)).toEqual([{ id: 1, name: "a" }]);
  expect(await findThing(2)).toEqual([{ id: 2, name: "b" }]);
  expect(await keptTexts()).toEqual([expect.stringContaining("select * from thing where id = $1")]);
});

async function modeOf(mark: typeof PREPARED_STATEMENT | undefined, db: Db | Trx = one.db): Promise<string> {
  const text = sql<{
    mode: string;
  }>`${mark ?? sql``}select current_setting('plan_cache_mode') as mode, ${1}::int`;
  const { rows } = await text.execute(db);
  return rows[0]?.mode ?? "";
}

test("a prepared statement is planned once, and for any values", async () => {
  const fresh = openDatabase(store.url, { max: 1 });
  for (let id = 0; id < 3; id++) await findThing(id, fresh.db);
  const counts = await sql`select generic_plans::int, custom_plans::int from pg_prepared_statements`.execute(
    fresh.db,
  );
  await fresh.close();
  expect(counts.rows).toEqual([{ generic_plans: 3, custom_plans: 0 }]);
  expect(await modeOf(PREPARED_STATEMENT)).toBe("force_generic_plan");
});

test("any other statement is planned for its values, also after a rollback and after an error", async () => {
  expect(await modeOf(undefined)).toBe("auto");
  const rollBack = (mark?: typeof PREPARED_STATEMENT) =>
    one.db.transaction().execute(async (trx) => {
      await modeOf(mark, trx);
      throw new Error("no");
    });
  await expect(rollBack(PREPARED_STATEMENT)).rejects.toThrow("no");
  expect(await modeOf(undefined)).toBe("auto");
  await modeOf(PREPARED_STATEMENT);
  await expect(rollBack()).rejects.toThrow("no");
  expect(await modeOf(undefined)).toBe("auto");
  await modeOf(PREPARED_STATEMENT);
  await expect(sql`select 1 / ${0}::int`.execute(one.db)).rejects.toThrow("division by zero");
  expect(await modeOf(undefined)).toBe("auto");
});

test("a prepared statement still works after its table has changed", async () => {
  await findThing(1);
  await findThing(2);
  await sql`alter table thing add column size int default 7`.execute(one.db);
  expect(await findThing(1)).toEqual([{ id: 1, name: "a", size: 7 }]);
  expect(await findThing(2)).toEqual([{ id: 2, name: "b", size: 7 }]);
});

async function planOf(): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_prepared_statements where statement like '%from thing%' order by prepare_time desc`.execute(
    one.db,
  );
  const plan = await sql<{
    "QUERY PLAN": string;
  }>`explain execute ${sql.id(rows[0]?.name ?? "")} (1)`.execute(one.db);
  return plan.rows.map((row) => row["QUERY PLAN"]).join();
}

/** More runs than PostgreSQL plans with the values before it compares costs. */
async function runOften(): Promise<void> {
  for (let run = 0; run < 10; run++) await findThing(1);
}

/** Table sizes are read every two seconds, and each call advances past that. */
function passTime(): () => Promise<void> {
  const { now } = performance;
  let ahead = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + ahead);
  return async () => {
    ahead += 2_001;
  };
}

test("a prepared statement is planned anew once its table has grown", async () => {
  await sql`alter table thing set (autovacuum_enabled = off)`.execute(one.db);
  await sql`create unique index on thing (id)`.execute(one.db);
  await sql`analyze thing`.execute(one.db);
  await runOften();
  expect(await planOf()).toContain("Seq Scan");
  await sql`insert into thing select n, 'c' from generate_series(3, 100000) n`.execute(one.db);
  const pass = passTime();
  const planAgain = () => pass().then(runOften).then(planOf);
  await expect.poll(planAgain).toContain("Index Scan");
});

test("a prepared statement keeps its plan while its table keeps its size", async () => {
  const query = vi.spyOn(pg.Client.prototype, "query");
  const count = (text: string) => query.mock.calls.filter(([sent]) => String(sent).includes(text)).length;
  const pass = passTime();
  const readSizes = () =>
    pass()
      .then(() => findThing(1))
      .then(() => count("pg_relation_size"));
  await expect.poll(readSizes).toBe(1);
  await runOften();
  query.mockClear();
  await expect.poll(readSizes).toBe(2);
  await runOften();
  expect(count("discard plans")).toBe(0);
  query.mockRestore();
});

test("in a transaction a prepared statement fails once at most, with the error that says why", async () => {
  await findThing(1);
  await findThing(2);
  await sql`alter table thing add column size int default 7`.execute(one.db);
  const inTransaction = () => one.db.transaction().execute((trx) => findThing(1, trx));
  await expect(inTransaction()).rejects.toThrow("cached plan");
  expect(await inTransaction()).toEqual([{ id: 1, name: "a", size: 7 }]);
});

test("a connection that has lost its prepared statements prepares them again", async () => {
  await findThing(1);
  await findThing(2);
  await sql`deallocate all`.execute(one.db);
  expect(await findThing(1)).toEqual([{ id: 1, name: "a" }]);
  expect(await findThing(2)).toEqual([{ id: 2, name: "b" }]);
});

test("an error of the prepared statement itself is reported unchanged", async () => {
  const divide = (by: number) => sql`${PREPARED_STATEMENT}select 1 / ${by}::int as part`.execute(one.db);
  await expect(divide(0)).rejects.toThrow("division by zero");
  expect((await divide(1)).rows).toEqual([{ part: 1 }]);
});

test("behind a pooler no statement is prepared, since the next one may use another connection", async () => {
  const pooled = openDatabase(store.url, { max: 1, directUrl: `${store.url}?application_name=direct` });
  await findThing(1, pooled.db);
  const { rows } = await sql`select from pg_prepared_statements`.execute(pooled.db);
  await pooled.close();
  expect(rows).toEqual([]);
});

/** Counts the round trips of the only connection. */
async function countRoundTrips(work: () => Promise<unknown>): Promise<number> {
  const client = await one.pool.connect();
  client.release();
  let trips = 0;
  const { connection } = client as unknown as pg.Client;
  const count = () => {
    trips += 1;
  };
  connection.on("readyForQuery", count);
  await work();
  connection.off("readyForQuery", count);
  return trips;
}

function rename(id: number, name: string, mark = PREPARED_STATEMENT) {
  return sql<{ big: number }>`${mark}
    update thing set name = ${name} where id = ${id} returning 9007199254740991::bigint as big`;
}

test("a transaction begins with its first statement, and without statements it sends nothing", async () => {
  await findThing(1);
  expect(await countRoundTrips(() => one.db.transaction().execute(async () => {}))).toBe(0);
  const refuse = () => one.db.transaction().execute(async () => Promise.reject(new Error("refused")));
  expect(await countRoundTrips(() => expect(refuse()).rejects.toThrow("refused"))).toBe(0);
  const { rows } = await one.db.transaction().execute((trx) => rename(1, "b").execute(trx));
  expect(rows).toEqual([{ big: 9_007_199_254_740_991 }]);
  const again = () => one.db.transaction().execute((trx) => rename(1, "c").execute(trx));
  expect(await countRoundTrips(again)).toBe(2);
  expect(await findThing(1)).toEqual([{ id: 1, name: "c" }]);
});

test("the first statement of a transaction is rolled back with it", async () => {
  const failing = one.db.transaction().execute(async (trx) => {
    await rename(1, "b").execute(trx);
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await findThing(1)).toEqual([{ id: 1, name: "a" }]);
});

test("a failed first statement ends its transaction, and runs well the next time", async () => {
  const divide = (by: number) =>
    one.db
      .transaction()
      .execute((trx) => sql`${PREPARED_STATEMENT}select 1 / ${by}::int as part`.execute(trx));
  await expect(divide(0)).rejects.toThrow("division by zero");
  expect((await divide(1)).rows).toEqual([{ part: 1 }]);
  const wrong = one.db.transaction().execute((trx) => sql`select nothing from nowhere`.execute(trx));
  await expect(wrong).rejects.toThrow('relation "nowhere" does not exist');
  expect((await divide(1)).rows).toEqual([{ part: 1 }]);
});

test("the last statement commits the transaction in the same round trip", async () => {
  const change = (name: string) =>
    one.db.transaction().execute(async (trx) => {
      await rename(1, name).execute(trx);
      return rename(2, name, LAST_STATEMENT).execute(trx);
    });
  expect((await change("x")).rows).toEqual([{ big: 9_007_199_254_740_991 }]);
  expect(await countRoundTrips(() => change("y"))).toBe(2);
  const { rows } = await sql`select * from thing order by id`.execute(store.database.db);
  expect(rows).toEqual([
    { id: 1, name: "y" },
    { id: 2, name: "y" },
  ]);
});

test("a last statement that fails rolls the transaction back", async () => {
  await sql`alter table thing add constraint no_z check (name <> 'z')`.execute(one.db);
  const change = one.db.transaction().execute(async (trx) => {
    await rename(1, "b").execute(trx);
    await rename(2, "z", LAST_STATEMENT).execute(trx);
  });
  await expect(change).rejects.toThrow("no_z");
  expect(await findThing(1)).toEqual([{ id: 1, name: "a" }]);
});

test("a deferred constraint that fails at the commit fails the last statement", async () => {
  await sql`alter table thing add constraint one_name unique (name) deferrable initially deferred`.execute(
    one.db,
  );
  const change = one.db.transaction().execute((trx) => rename(2, "a", LAST_STATEMENT).execute(trx));
  await expect(change).rejects.toThrow("one_name");
  expect(await findThing(2)).toEqual([{ id: 2, name: "b" }]);
});

test("a statement after the last one of a transaction throws and does nothing", async () => {
  const change = one.db.transaction().execute(async (trx) => {
    await rename(1, "b", LAST_STATEMENT).execute(trx);
    await rename(2, "c").execute(trx);
  });
  await expect(change).rejects.toThrow("committed with its last statement");
  expect(await findThing(1)).toEqual([{ id: 1, name: "b" }]);
  expect(await findThing(2)).toEqual([{ id: 2, name: "b" }]);
});

test("outside a transaction a last statement runs alone", async () => {
  await rename(1, "b", LAST_STATEMENT).execute(one.db);
  expect(await findThing(1)).toEqual([{ id: 1, name: "b" }]);
});
