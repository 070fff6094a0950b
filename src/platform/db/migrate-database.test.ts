import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { openDatabase } from "./database.ts";
import { migrateDatabase } from "./migrate-database.ts";

let store: TestDatabase | undefined;

afterEach(() => store?.drop());

test("three processes that migrate an empty database at once apply every migration once", async () => {
  store = await createEmptyDatabase();
  const { url } = store;
  const others = Array.from({ length: 3 }, () => openDatabase(url));
  const applied = await Promise.all(others.map(({ db }) => migrateDatabase(db)));
  await Promise.all(others.map(({ close }) => close()));
  const names = applied.flat();
  expect(names.length).toBeGreaterThan(5);
  expect(names).toEqual([...new Set(names)].sort());
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_inherits where inhparent = 'event'::regclass`.execute(store.database.db);
  expect(rows).toEqual([{ n: 11 }]);
});

test("a database that is up to date is not changed", async () => {
  store = await createTestDatabase();
  expect(await migrateDatabase(store.database.db)).toEqual([]);
});

test("an older version still starts on a database that a newer one has migrated", async () => {
  store = await createTestDatabase();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01')`.execute(
    store.database.db,
  );
  expect(await migrateDatabase(store.database.db)).toEqual([]);
});

test("a migration that fails reports its name, and leaves nothing behind", async () => {
  store = await createEmptyDatabase();
  await sql`create table webhook (id bigint)`.execute(store.database.db);
  await expect(migrateDatabase(store.database.db)).rejects.toThrow(
    /migration 0005-events failed: relation "webhook"/,
  );
  const { rows } = await sql`select to_regclass('account') as account, to_regclass('event') as event`.execute(
    store.database.db,
  );
  expect(rows).toEqual([{ account: null, event: null }]);
});
