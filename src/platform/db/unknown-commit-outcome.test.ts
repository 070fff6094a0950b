import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../test/database.ts";
import { type Database, openDatabase } from "./database.ts";
import { isBackendGone, isCommitOutcomeUnknown } from "./unknown-commit-outcome.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await createEmptyDatabase();
});
afterAll(() => store.drop());

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

/** The error of a one-minute statement whose connection breaks, and the process that runs it. */
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
  const told = Object.assign(new Error("server conn crashed?"), { code: "08P01" });
  expect(isCommitOutcomeUnknown(told)).toBe(true);
});
