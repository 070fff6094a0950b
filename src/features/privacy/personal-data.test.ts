import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { type DeclaredTable, dataOf, PERSONAL_DATA } from "./personal-data.ts";
import { columnsOf } from "./treatment.ts";

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("personal data is declared for every existing column, and for no other", async () => {
  const { rows } = await test.database.pool.query<{ name: string; column: string }>(`
    select c.relname as name, a.attname as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and c.relname not like 'kysely%'`);
  const there = rows.map(({ name, column }) => `${name}.${column}`);
  const declared = (Object.keys(PERSONAL_DATA) as DeclaredTable[]).flatMap((table) =>
    columnsOf(dataOf(table)).map((column) => `${table}.${column}`),
  );
  expect(declared.toSorted()).toEqual(there.toSorted());
});
