import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { createGate } from "../../../test/gate.ts";
import { openDatabase } from "../db/database.ts";
import { fingerprint } from "../secrets/fingerprint.ts";
import { createSecretBox } from "../secrets/secret-box.ts";
import { OkResponse } from "./handler.ts";
import {
  deleteExpiredResponses,
  findStoredResponse,
  type IdempotentRequest,
  runIdempotently,
} from "./run-idempotently.ts";

const ONCE: IdempotentRequest = {
  account_id: 1,
  route: "instances",
  key: "k1",
  fingerprint: fingerprint({ name: "Sales" }),
};
const RESULT = { id: 4, api_key: "wg_shown-once", at: new Date(0), list: [1, null] };
const MISMATCH = {
  code: "IDEMPOTENCY_MISMATCH",
  message: "The Idempotency-Key was already used with another body. Use a new key for a new request.",
};

const box = createSecretBox("kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4");
let store: TestDatabase;
let runs: number;

beforeAll(async () => {
  store = await createTestDatabase();
  await store.database.pool.query(`
    insert into account (id, name, account_type, plan_id, settings) overriding system value
    select n, 'Shop', 'client', (select min(id) from plan), '{}' from generate_series(1, 2) n
    on conflict do nothing`);
});
afterAll(() => store.drop());

beforeEach(async () => {
  runs = 0;
  await store.database.pool.query("truncate account_idempotency");
});

const run = (once: IdempotentRequest | undefined = ONCE, result: unknown = RESULT) =>
  runIdempotently({ db: store.database.db, box }, once, async () => {
    runs += 1;
    return result;
  });

const pass = (hours: number) =>
  store.database.pool.query(
    "update account_idempotency set created_at = created_at - make_interval(secs => $1::float8 * 3600)",
    [hours],
  );

describe("a request with an Idempotency-Key", () => {
  test("runs once, and its repetition gets the same response, marked as such", async () => {
    expect(await run()).toEqual(RESULT);
    const again = await run();
    expect(again).toBeInstanceOf(OkResponse);
    expect(again).toMatchObject({ data: RESULT, options: { headers: { "idempotent-replayed": "true" } } });
    expect(runs).toBe(1);
  });

  test("runs again with another key, on another route or for another account", async () => {
    await run();
    for (const other of [{ key: "k2" }, { route: "campaigns" }, { account_id: 2 }])
      expect(await run({ ...ONCE, ...other }, other)).toEqual(other);
    expect(runs).toBe(4);
    expect(await run()).toMatchObject({ data: RESULT });
  });

  test("is rejected with another body", async () => {
    await run();
    const other = { ...ONCE, fingerprint: fingerprint({ name: "Support" }) };
    await expect(run(other)).rejects.toMatchObject(MISMATCH);
    await expect(findStoredResponse(store.database.db, box, other)).rejects.toMatchObject(MISMATCH);
    expect(runs).toBe(1);
  });

  test("may run again if it fails, since nothing of it was stored", async () => {
    const failing = runIdempotently({ db: store.database.db, box }, ONCE, async () => {
      throw new Error("no room");
    });
    await expect(failing).rejects.toThrow("no room");
    expect(await findStoredResponse(store.database.db, box, ONCE)).toBeUndefined();
    expect(await run()).toEqual(RESULT);
  });

  test("waits for a first request that still runs, and gets its response", async () => {
    const hasBegun = createGate();
    const mayEnd = createGate();
    const first = runIdempotently({ db: store.database.db, box }, ONCE, async () => {
      hasBegun.open();
      await mayEnd.opened;
      return RESULT;
    });
    await hasBegun.opened;
    const impatient = openDatabase(store.url, { lockTimeoutMs: 1 });
    const second = runIdempotently({ db: impatient.db, box }, ONCE, async () => RESULT);
    const waiting =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect
      .poll(async () => (await store.database.pool.query(waiting)).rowCount)
      .toBe(1)
      .finally(mayEnd.open);
    expect(await first).toEqual(RESULT);
    expect(await second).toMatchObject({ data: RESULT });
    await impatient.close();
  });

  test("runs anew after 24 hours, also with another body", async () => {
    await run();
    await pass(23.99);
    expect(await findStoredResponse(store.database.db, box, ONCE)).toEqual({ response: RESULT });
    await pass(0.02);
    expect(await findStoredResponse(store.database.db, box, ONCE)).toBeUndefined();
    const other = { ...ONCE, fingerprint: fingerprint({ name: "Support" }) };
    expect(await run(other, "second")).toBe("second");
    expect(await run(other)).toMatchObject({ data: "second" });
    expect(runs).toBe(2);
  });

  test("stores its response sealed, for its own key only", async () => {
    await run();
    const { rows } = await store.database.pool.query("select response from account_idempotency");
    expect(rows[0].response.toString("latin1")).not.toContain("wg_shown-once");
    await store.database.pool.query("update account_idempotency set key = 'k2'");
    await expect(run({ ...ONCE, key: "k2" })).rejects.toThrow();
  });

  test("without a stored response reports a defect instead of running twice", async () => {
    await run();
    await store.database.pool.query("update account_idempotency set response = null");
    await expect(run()).rejects.toThrow("The Idempotency-Key was claimed and committed without a response.");
  });

  test("has no stored response before it ran", async () => {
    expect(await findStoredResponse(store.database.db, box, ONCE)).toBeUndefined();
  });
});

describe("a request without an Idempotency-Key", () => {
  test("runs each time and stores nothing", async () => {
    const { db } = store.database;
    for (const result of ["first", "second"])
      expect(await runIdempotently({ db, box }, undefined, async () => result)).toBe(result);
    expect((await store.database.pool.query("select from account_idempotency")).rowCount).toBe(0);
  });
});

test("stored responses are deleted an hour after they have expired", async () => {
  await run();
  await pass(24.9);
  await deleteExpiredResponses(store.database.db);
  expect((await store.database.pool.query("select from account_idempotency")).rowCount).toBe(1);
  await pass(0.2);
  await deleteExpiredResponses(store.database.db);
  expect((await store.database.pool.query("select from account_idempotency")).rowCount).toBe(0);
});
