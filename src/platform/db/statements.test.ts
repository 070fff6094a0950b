import { sql } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { compileOnce } from "./compile-once.ts";
import { type Database, isDatabaseUnavailable, openDatabase } from "./database.ts";
import { executeBatch } from "./execute-batch.ts";
import { isBackendGone, isCommitOutcomeUnknown } from "./unknown-commit-outcome.ts";

test("a query is compiled once, and is part of a statement as it stands", async () => {
  const { database, drop } = await createTestDatabase();
  let builds = 0;
  const select = compileOnce((trx) => {
    builds += 1;
    return trx.selectFrom("lane").select("lane.id").orderBy("lane.id");
  });
  const read = (id: number) =>
    database.db
      .transaction()
      .execute((trx) =>
        sql`with lane as (select generate_series(1, ${id}::bigint) as id) ${select(trx)}`.execute(trx),
      );
  expect((await read(1)).rows).toEqual([{ id: 1 }]);
  expect((await read(2)).rows).toEqual([{ id: 1 }, { id: 2 }]);
  expect(builds).toBe(1);
  await drop();
});

test("a query with values cannot be compiled once", async () => {
  const { database, drop } = await createTestDatabase();
  const select = compileOnce((trx) => trx.selectFrom("lane").select("id").where("id", "=", 1));
  await expect(database.db.transaction().execute(async (trx) => select(trx))).rejects.toThrow(
    "a query without values",
  );
  await drop();
});

let store: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  store = await createEmptyDatabase();
});
afterAll(() => store.drop());

beforeEach(async () => {
  client = new pg.Client({ connectionString: store.url });
  client.on("error", () => {});
  await client.connect();
});
afterEach(() => client.end());

const NAMED = { name: "named", text: "select $1::int as n" };

test("the results of a batch come in the order of its statements, with and without rows", async () => {
  const results = await executeBatch(client, [
    { text: "create temp table thing (n int)" },
    { text: "insert into thing values ($1), ($2)", values: [1, 2] },
    { text: "select n from thing order by n" },
    { text: "" },
    { ...NAMED, values: [3] },
  ]);
  expect(results.map(({ command }) => command)).toEqual(["CREATE", "INSERT", "SELECT", null, "SELECT"]);
  expect(results.map(({ rows }) => rows)).toEqual([[], [], [{ n: 1 }, { n: 2 }], [], [{ n: 3 }]]);
});

test("after an error the rest of a batch does not run, and can be prepared later", async () => {
  const batch = executeBatch(client, [
    { text: "select 1 / 0" },
    { ...NAMED, values: [1] },
    { text: "create temp table thing (n int)" },
  ]);
  await expect(batch).rejects.toThrow("division by zero");
  const [result] = await executeBatch(client, [{ ...NAMED, values: [2] }]);
  expect(result?.rows).toEqual([{ n: 2 }]);
  await expect(client.query("select from thing")).rejects.toThrow("does not exist");
});

test("a prepared statement that fails stays prepared", async () => {
  await executeBatch(client, [{ ...NAMED, values: [1] }]);
  const batch = executeBatch(client, [{ text: "select 1" }, { ...NAMED, values: ["a"] }]);
  await expect(batch).rejects.toThrow("invalid input syntax");
  const [result] = await executeBatch(client, [{ ...NAMED, values: [2] }]);
  expect(result?.rows).toEqual([{ n: 2 }]);
});

test("a value that cannot be sent fails its batch, and the connection remains usable", async () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const batch = executeBatch(client, [
    { text: "begin" },
    { ...NAMED, values: [circle] },
    { text: "create table thing (n int)" },
  ]);
  await expect(batch).rejects.toThrow("circular");
  await client.query("rollback");
  const [result] = await executeBatch(client, [{ ...NAMED, values: [2] }]);
  expect(result?.rows).toEqual([{ n: 2 }]);
  await expect(client.query("select from thing")).rejects.toThrow("does not exist");
});

test("a connection that ends during a batch fails it as unavailable", async () => {
  const batch = executeBatch(client, [{ text: "select pg_terminate_backend(pg_backend_pid())" }, NAMED]);
  const error = await batch.catch((reason: unknown) => reason);
  expect(error).toSatisfy(isDatabaseUnavailable);
});

async function sleepers(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`.execute(
    store.database.db,
  );
  return rows.map(({ pid }) => pid);
}

const end = (pid = 0) => sql`select pg_terminate_backend(${pid})`.execute(store.database.db);

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("nothing went wrong"),
    (error: unknown) => error,
  );
}

/** Breaks the connection of a one-minute statement. Returns the error and the server process. */
async function breakUnder({ db, checkConnections }: Database): Promise<{ error: unknown; pid: number }> {
  const failing = errorOf(sql`select pg_sleep(60)`.execute(db));
  await expect.poll(sleepers).toHaveLength(1);
  const [pid = 0] = await sleepers();
  checkConnections()();
  return { error: await failing, pid };
}

test("a statement whose connection breaks may still run until its server process is gone", async () => {
  const database = openDatabase(store.url);
  const { error, pid } = await breakUnder(database);
  expect(isCommitOutcomeUnknown(error)).toBe(true);
  expect(await isBackendGone(database.db, error)).toBe(false);
  await end(pid);
  await expect.poll(() => isBackendGone(database.db, error)).toBe(true);
  await database.close();
});

test("behind a pooler the end of a lost statement is unknown", async () => {
  const database = openDatabase(store.url, { directUrl: `${store.url}?application_name=direct` });
  const { error, pid } = await breakUnder(database);
  expect(isCommitOutcomeUnknown(error)).toBe(true);
  await end(pid);
  await expect.poll(sleepers).toEqual([]);
  expect(await isBackendGone(database.db, error)).toBe(false);
  await database.close();
});

test("a statement that PostgreSQL ended, or that found no connection, is not carried out", async () => {
  const database = openDatabase(store.url);
  const failing = errorOf(sql`select pg_sleep(60)`.execute(database.db));
  await expect.poll(sleepers).toHaveLength(1);
  await end((await sleepers())[0]);
  expect(await failing).toMatchObject({ code: "57P01" });
  const nowhere = openDatabase("postgres://w:w@127.0.0.1:1/w");
  const refused = await errorOf(sql`select 1`.execute(nowhere.db));
  expect([await failing, refused].map(isCommitOutcomeUnknown)).toEqual([false, false]);
  await Promise.all([database.close(), nowhere.close()]);
});

test("a pooler's error about its connection says nothing about the statement", () => {
  const lost = Object.assign(new Error("server conn crashed?"), { code: "08P01" });
  expect(isCommitOutcomeUnknown(lost)).toBe(true);
});
