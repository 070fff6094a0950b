import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../test/database.ts";
import { isDatabaseUnavailable } from "./database.ts";
import { executeBatch } from "./execute-batch.ts";

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
