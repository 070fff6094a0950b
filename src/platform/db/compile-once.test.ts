import { sql } from "kysely";
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../test/database.ts";
import { compileOnce } from "./compile-once.ts";

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
