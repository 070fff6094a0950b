import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../test/database.ts";
import { makeScratchDir } from "../../../test/run/scratch-dir.ts";
import { isDatabaseUnavailable, openDatabase } from "./database.ts";

let store: TestDatabase;

beforeAll(async () => {
  store = await createEmptyDatabase();
});

afterAll(() => store.drop());

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "it worked",
    (error: unknown) => error,
  );
}

async function cutAll(): Promise<void> {
  const other = openDatabase(store.url, { max: 1, application_name: "cutter" });
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name <> 'cutter'`.execute(other.db);
  await other.close();
}

async function sleepers(): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity where datname = current_database()
    and pid <> pg_backend_pid() and query like '%pg_sleep(20)%'`.execute(store.database.db);
  return rows.length;
}

test("numbers are returned as numbers, also in arrays and sums, JSON parsed and times as dates", async () => {
  const { rows } = await sql`select 9007199254740991::bigint as big, 12.50::numeric as price,
    '{1,2,null}'::bigint[] as bigs, '{1.5}'::numeric[] as prices, count(*) as n, '{"a":[1]}'::jsonb as json,
    '2026-11-20T12:00:00Z'::timestamptz as at, '\\x00ff'::bytea as bytes, null::bigint as nothing`.execute(
    store.database.db,
  );
  expect(rows).toEqual([
    {
      big: 9_007_199_254_740_991,
      price: 12.5,
      bigs: [1, 2, null],
      prices: [1.5],
      n: 1,
      json: { a: [1] },
      at: new Date("2026-11-20T12:00:00Z"),
      bytes: Buffer.from([0, 255]),
      nothing: null,
    },
  ]);
});

test("connections carry the name of the program", async () => {
  const { rows } = await sql`show application_name`.execute(store.database.db);
  expect(rows).toEqual([{ application_name: "waygate" }]);
});

test("connections that are cut, idle or in a transaction, only fail the running statements", async () => {
  const { db, close } = openDatabase(store.url);
  const running = reasonOf(sql`select pg_sleep(20)`.execute(db));
  const between = reasonOf(
    db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx);
      await expect.poll(sleepers).toBe(1);
      await cutAll();
      await running;
      await sql`select 2`.execute(trx);
    }),
  );
  expect(await running).toSatisfy(isDatabaseUnavailable);
  expect(await between).toSatisfy(isDatabaseUnavailable);
  const back = await vi.waitFor(() => sql`select 1 as n`.execute(db), { timeout: 60_000 });
  expect(back.rows).toEqual([{ n: 1 }]);
  await close();
});

test("connections that have received nothing since they were suspected are cut, and no others", async () => {
  const { pool, checkConnections, close } = openDatabase(store.url);
  const [busy, resting] = [await pool.connect(), await pool.connect()];
  const running = reasonOf(busy.query("select pg_sleep(20)"));
  await expect.poll(sleepers).toBe(1);
  const cut = checkConnections();
  await resting.query("select 1");
  cut();
  expect(await running).toSatisfy(isDatabaseUnavailable);
  busy.release();
  expect((await resting.query("select 1 as n")).rows).toEqual([{ n: 1 }]);
  resting.release();
  await close();
});

test("a pool that was never used, or only beside Kysely, closes as well", async () => {
  await openDatabase(store.url).close();
  const used = openDatabase(store.url);
  await used.pool.query("select 1");
  await used.close();
  expect(used.pool.totalCount).toBe(0);
});

test("a socket with a full queue of connections means an unavailable database", async () => {
  const { path, remove } = await makeScratchDir();
  const server = createServer().listen({ path: join(path, "socket"), backlog: 1 });
  await once(server, "listening");
  // In one turn, so that the server accepts none of them meanwhile.
  const sockets = Array.from({ length: 5 }, () => connect(join(path, "socket")).on("error", () => {}));
  const results = await Promise.allSettled(sockets.map((socket) => once(socket, "connect")));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  for (const socket of sockets) socket.destroy();
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.filter((error) => !isDatabaseUnavailable(error))).toEqual([]);
  server.close();
  await remove();
});

test("a refused connection, an unknown host, a missing socket and a silent server mean an unavailable database", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const urls = [
    "postgres://w:w@127.0.0.1:1/w",
    "postgres://w:w@no-such-host.invalid/w",
    "postgres://w:w@%2Fno%2Fsuch%2Fdirectory/w",
    `postgres://w:w@127.0.0.1:${port}/w`,
  ];
  for (const database of urls.map((url) => openDatabase(url, { startTimeoutMs: 300 }))) {
    expect(await reasonOf(sql`select 1`.execute(database.db))).toSatisfy(isDatabaseUnavailable);
    await database.close();
  }
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test("a pool that stays exhausted counts as an unavailable database", async () => {
  const { db, pool, close } = openDatabase(store.url, { max: 1 });
  const held = await pool.connect();
  pool.options.connectionTimeoutMillis = 300;
  expect(await reasonOf(sql`select 1`.execute(db))).toSatisfy(isDatabaseUnavailable);
  held.release();
  await close();
});

test("shutdown states mean unavailable; a wrong statement, constraint or password does not", async () => {
  for (const code of ["57P01", "57P02", "57P03", "08006", "08000", "53300", "ECONNREFUSED", "ECONNRESET"]) {
    expect(isDatabaseUnavailable(Object.assign(new Error("x"), { code }))).toBe(true);
  }
  for (const code of ["23505", "57014", "40001", "28P01", "53100", "42P01"]) {
    expect(isDatabaseUnavailable(Object.assign(new Error("x"), { code }))).toBe(false);
  }
  expect(
    isDatabaseUnavailable(new Error("wrapped", { cause: Object.assign(new Error("x"), { code: "57P03" }) })),
  ).toBe(true);
  expect(
    isDatabaseUnavailable(new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })])),
  ).toBe(true);
  expect(await reasonOf(sql`select * from nowhere`.execute(store.database.db))).not.toSatisfy(
    isDatabaseUnavailable,
  );
  expect(isDatabaseUnavailable("ECONNREFUSED")).toBe(false);
  expect(isDatabaseUnavailable(undefined)).toBe(false);
});

test("a locked row fails only the statement that needs it, and only after the configured time", async () => {
  const impatient = openDatabase(store.url, { max: 2, lockTimeoutMs: 100 });
  await sql`create table held (id int primary key)`.execute(store.database.db);
  await sql`insert into held values (1), (2)`.execute(store.database.db);
  await store.database.db.transaction().execute(async (trx) => {
    await sql`update held set id = id where id = 1`.execute(trx);
    const refused = await reasonOf(sql`update held set id = id where id = 1`.execute(impatient.db));
    expect(refused).toMatchObject({ code: "55P03" });
    expect(isDatabaseUnavailable(refused)).toBe(false);
    await sql`update held set id = id where id = 2`.execute(impatient.db);
  });
  await impatient.close();
});
