import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { waitUntil } from "../../../test/gateway.ts";
import { type Database, isStatementTimeout, openDatabase } from "./database.ts";
import { REQUEST_CONNECTIONS, runInRequest, runOutsideRequests, shareConnections } from "./request-pool.ts";

let store: TestDatabase;
let requests: Database;

beforeAll(async () => {
  store = await createTestDatabase();
  requests = openDatabase(store.url, {
    forRequests: true,
    max: REQUEST_CONNECTIONS.max,
    application_name: "requests",
  });
});
afterAll(async () => {
  await requests.close();
  await store.drop();
});

/** Waits for a lock of the test without a timeout. */
const blocked = () =>
  requests.db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(1)`.execute(trx);
  });

async function countBlocked(): Promise<number> {
  const { rows } = await store.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where application_name = 'requests' and datname = current_database() and wait_event = 'advisory'`,
  );
  return rows[0]?.count ?? 0;
}

async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  const holder = await store.database.pool.connect();
  try {
    await holder.query("select pg_advisory_lock(1)");
    return await work();
  } finally {
    await holder.query("select pg_advisory_unlock_all()");
    holder.release();
  }
}

describe("a statement of a request", () => {
  test("has ten seconds, and one that needs more fails with its own error", async () => {
    const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(requests.db);
    expect(rows[0]?.statement_timeout).toBe("10s");
    const tooLong = requests.db.transaction().execute(async (trx) => {
      await sql`set local statement_timeout = 20`.execute(trx);
      await sql`select pg_sleep(60)`.execute(trx);
    });
    expect(isStatementTimeout(await tooLong.catch((error) => error))).toBe(true);
  });

  test("ends when its client leaves, and the statements of others go on", async () => {
    const leaves = new AbortController();
    await whileLocked(async () => {
      const own = runInRequest({ account_id: 1, signal: leaves.signal }, blocked).catch((error) => error);
      const other = runInRequest({ account_id: 1 }, blocked);
      // Started by one request and shared by several.
      const shared = runInRequest({ account_id: 1, signal: leaves.signal }, () =>
        runOutsideRequests(blocked),
      );
      await waitUntil(async () => (await countBlocked()) === 3);
      leaves.abort();
      expect(await own).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("has left") });
      await waitUntil(async () => (await countBlocked()) === 2);
      return { other, shared };
    }).then(({ other, shared }) => Promise.all([other, shared]));
    const late = runInRequest({ account_id: 1, signal: leaves.signal }, blocked);
    await expect(late).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("that ends by itself while it is being cut does not leave its connection to others", async () => {
    const leaves = new AbortController();
    const pool = new pg.Pool({ connectionString: store.url, max: 1, application_name: "requests" });
    let cuts = 0;
    const shared = shareConnections(pool, () => cuts++);
    const run = async (text: string, signal?: AbortSignal) => {
      const scope = { account_id: 1, ...(signal && { signal }) };
      const client = await runInRequest(scope, () => shared.connect());
      const { rows } = await client.query<{ pid: number }>(text, []).finally(() => client.release());
      return rows[0]?.pid;
    };
    const first = await whileLocked(async () => {
      const ends = run("select pg_backend_pid() as pid from pg_advisory_xact_lock(1)", leaves.signal);
      await waitUntil(async () => (await countBlocked()) === 1);
      leaves.abort();
      await waitUntil(() => cuts === 1);
      return { ends };
    });
    expect(await run("select pg_backend_pid() as pid")).not.toBe(await first.ends);
    await pool.end();
  });

  test("of an account that takes all its connections leaves some to other accounts, and to its own transactions", async () => {
    const ready = await whileLocked(async () => {
      const many = Array.from({ length: 30 }, () => runInRequest({ account_id: 1 }, blocked));
      await waitUntil(async () => (await countBlocked()) === REQUEST_CONNECTIONS.perAccount);
      await waitUntil(() => requests.waitingRequests() === 30 - REQUEST_CONNECTIONS.perAccount);
      const { rows } = await runInRequest({ account_id: 2 }, () => sql`select 1`.execute(requests.db));
      expect(rows).toHaveLength(1);
      const others = [2, 3].map((account_id) => runInRequest({ account_id }, blocked));
      await waitUntil(async () => (await countBlocked()) === REQUEST_CONNECTIONS.shared);
      return { work: Promise.all([...many, ...others]) };
    });
    await ready.work;
    const nested = Array.from({ length: 30 }, () =>
      runInRequest({ account_id: 1 }, () =>
        requests.db.transaction().execute(async (trx) => {
          await sql`select 1`.execute(trx);
          return sql`select 1`.execute(requests.db);
        }),
      ),
    );
    expect(await Promise.all(nested)).toHaveLength(30);
    expect(requests.waitingRequests()).toBe(0);
  });
});
