import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../test/database.ts";
import { copyIn, copyOut } from "./pg-copy.ts";

let store: TestDatabase;
let client: pg.Client;
const WIDE = "copy (select n, repeat('x', 1000) from generate_series(1, 50000) n) to stdout";

beforeAll(async () => {
  store = await createEmptyDatabase();
  await store.database.pool.query("create table word (id int primary key, text text)");
});
afterAll(async () => store?.drop());
afterEach(async () => client?.end().catch(() => {}));

async function connect(): Promise<pg.Client> {
  client = new pg.Client({ connectionString: store.url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function rowsOf(statement: string): Promise<string[]> {
  const rows: string[] = [];
  for await (const some of copyOut(client, statement)) rows.push(...some.map(String));
  return rows;
}

const killCopy = () =>
  store.database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'copy%' and pid <> pg_backend_pid()",
  );

describe("rows from a COPY", () => {
  test("arrive whole, each with its line end, whatever chunks the server sends", async () => {
    await connect();
    const rows = await rowsOf(
      "copy (select n, repeat('y', n * 37 % 9000), E'a\\nb' from generate_series(1, 3000) n) to stdout",
    );
    expect(rows).toHaveLength(3_000);
    expect(rows.every((row, at) => row === `${at + 1}\t${"y".repeat(((at + 1) * 37) % 9000)}\ta\\nb\n`)).toBe(
      true,
    );
    expect(await rowsOf("copy (select 1 where false) to stdout")).toEqual([]);
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("arrive only as fast as they are read", async () => {
    await connect();
    const reader = copyOut(client, WIDE);
    await reader.next();
    const sent =
      "select wait_event from pg_stat_activity where datname = current_database() and query like 'copy%' and pid <> pg_backend_pid()";
    await expect
      .poll(async () => (await store.database.pool.query(sent)).rows[0]?.wait_event)
      .toBe("ClientWrite");
    await reader.return(undefined);
  });

  test("arrive until the reader stops; the connection can then run other statements or close", async () => {
    await connect();
    for await (const rows of copyOut(client, WIDE)) if (rows.length > 0) break;
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    for await (const rows of copyOut(client, WIDE)) if (rows.length > 0) break;
    await client.end();
  });

  test("do not arrive from a wrong statement, or after a row that cannot be computed", async () => {
    await connect();
    await expect(rowsOf("copy (select nothing) to stdout")).rejects.toThrow(/"nothing" does not exist/);
    await expect(
      rowsOf("copy (select 1 / (20000 - n), repeat('x', 1000) from generate_series(1, 50000) n) to stdout"),
    ).rejects.toThrow(/division by zero/);
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("end with a failure when the connection is lost, never as if they were complete", async () => {
    await connect();
    let count = 0;
    const read = async () => {
      for await (const rows of copyOut(client, WIDE)) {
        if (count === 0) await killCopy();
        count += rows.length;
      }
    };
    await expect(read()).rejects.toThrow();
    expect(count).toBeLessThan(50_000);
  });
});

describe("rows for a COPY", () => {
  const intoWords = "copy word (id, text) from stdin";
  async function* pieces(from: number, to: number, size = 1_000) {
    for (let at = from; at < to; at += size)
      yield Buffer.from(Array.from({ length: size }, (_, n) => `${at + n}\tword ${at + n}\n`).join(""));
  }
  const count = async () =>
    Number((await store.database.pool.query("select count(*) from word")).rows[0].count);

  test("are sent in chunks of any size, and are stored when it is done", async () => {
    await connect();
    await copyIn(client, intoWords, pieces(0, 100_000));
    expect(await count()).toBe(100_000);
    await copyIn(client, intoWords, pieces(0, 0));
    await client.query("truncate word");
  });

  test("are not stored at all when they cannot be read to their end", async () => {
    await connect();
    async function* broken() {
      yield* pieces(0, 5_000);
      throw new Error("the disk is gone");
    }
    await expect(copyIn(client, intoWords, broken())).rejects.toThrow("the disk is gone");
    expect((await client.query("select count(*) from word")).rows).toEqual([{ count: "0" }]);
  });

  test("are not stored at all when the server refuses one or the statement", async () => {
    await connect();
    async function* twice() {
      yield* pieces(0, 5_000);
      yield* pieces(0, 500_000);
    }
    await expect(copyIn(client, intoWords, twice())).rejects.toThrow(/duplicate key/);
    await expect(copyIn(client, "copy nothing from stdin", pieces(0, 5_000))).rejects.toThrow(
      /"nothing" does not exist/,
    );
    expect((await client.query("select count(*) from word")).rows).toEqual([{ count: "0" }]);
  });

  test("are not stored at all when the connection is lost during the copy", async () => {
    await connect();
    async function* interrupted() {
      yield* pieces(0, 5_000);
      await killCopy();
      yield* pieces(5_000, 1_000_000);
    }
    await expect(copyIn(client, intoWords, interrupted())).rejects.toThrow();
    expect(await count()).toBe(0);
  });
});
