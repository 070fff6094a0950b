import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { migrations } from "../../../migrations/all.ts";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { openDatabase } from "./database.ts";
import { knownMigrations } from "./find-pending-migrations.ts";
import { migrateDatabase } from "./migrate-database.ts";
import { UnsupportedDatabaseError } from "./unsupported-database-error.ts";

let store: TestDatabase | undefined;

afterEach(() => store?.drop());

test("three processes that migrate an empty database at once apply every migration once", async () => {
  store = await createEmptyDatabase();
  const { url } = store;
  const others = Array.from({ length: 3 }, () => openDatabase(url));
  const applied = await Promise.all(others.map(({ db }) => migrateDatabase(db)));
  await Promise.all(others.map(({ close }) => close()));
  const names = applied.flat();
  expect(names).toEqual(knownMigrations());
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_inherits where inhparent = 'event'::regclass`.execute(store.database.db);
  expect(rows).toEqual([{ n: 11 }]);
});

test("a database that is up to date is not changed", async () => {
  store = await createTestDatabase();
  expect(await migrateDatabase(store.database.db)).toEqual([]);
});

test("a database of a version before 2.0.0 is refused unchanged, and the error says what to do", async () => {
  store = await createEmptyDatabase();
  const { db } = store.database;
  await sql`create table kysely_migration (name text primary key, timestamp text not null)`.execute(db);
  await sql`insert into kysely_migration values ('0001-engine', 'x'), ('0080-last', 'x')`.execute(db);
  const refusal = await migrateDatabase(db).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UnsupportedDatabaseError);
  expect(String(refusal)).toMatch(/before 2\.0\.0 .*0001-engine.*\/api\/data\/export.*empty database/);
  const { rows } = await sql`select relname from pg_class where relname = 'node'`.execute(db);
  expect(rows).toEqual([]);
});

test("a later migration is applied to a database that has the first, once", async () => {
  store = await createTestDatabase();
  const { db } = store.database;
  migrations["0002-later"] = { up: (trx) => trx.schema.createTable("later").execute() };
  try {
    expect(await migrateDatabase(db)).toEqual(["0002-later"]);
    expect(await migrateDatabase(db)).toEqual([]);
  } finally {
    delete migrations["0002-later"];
  }
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
    /migration 0001-schema failed: relation "webhook"/,
  );
  const { rows } = await sql`select to_regclass('account') as account, to_regclass('event') as event`.execute(
    store.database.db,
  );
  expect(rows).toEqual([{ account: null, event: null }]);
});
