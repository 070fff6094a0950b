import { afterAll, beforeAll, expect, it } from "vitest";
import { loadSealedKey } from "../src/platform/config/load-sealed-key.ts";
import { migrateDatabase } from "../src/platform/db/migrate-database.ts";
import { createSecretBox, encryptionContextOf } from "../src/platform/secrets/secret-box.ts";
import { createDatabaseBefore, type TestDatabase } from "./database.ts";

const MIGRATION = "0070-table-names";
const box = createSecretBox("8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e");
const contextOf = (name: string) => encryptionContextOf("kept_key", "sealed", name);

let store: TestDatabase;

beforeAll(async () => {
  store = await createDatabaseBefore(MIGRATION);
  await rows("insert into kept_key (name, sealed) values ('test', $1)", box.seal("text", contextOf("test")));
  await rows("update tally_mark set message = 41");
  expect(await migrateDatabase(store.database.db)).toContain(MIGRATION);
});
afterAll(() => store.drop());

async function rows(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await store.database.pool.query(text, values)).rows;
}

it("the migration keeps the rows, and opens values sealed under the earlier name", async () => {
  expect(await rows("select message::int from message_count_cursor")).toEqual([{ message: 41 }]);
  expect(await loadSealedKey(store.database.db, box, "test")).toHaveLength(32);
});

it("a node of the previous version can read and write under the old names", async () => {
  await rows("select from tally_mark for update");
  await rows(
    "with n as (select 42 as last) update tally_mark t set message = n.last from n where n.last > t.message",
  );
  const count = `insert into sign_in_guess as g (kind, key, failures) values ('pair', 'x', 1)
    on conflict (kind, key) do update set failures = g.failures + 1`;
  for (const statement of [count, count]) await rows(statement);
  expect(await rows("select message::int from message_count_cursor")).toEqual([{ message: 42 }]);
  expect(await rows("select failures::int from sign_in_failure")).toEqual([{ failures: 2 }]);
  await rows("delete from sign_in_guess where kind = 'pair'");
  expect(await rows("select from sign_in_failure")).toEqual([]);
});

it("a node of the previous version can reseal keys, and finds its rows by ctid", async () => {
  const [row] = await rows(
    "select ctid::text as ctid from kept_key where ctid > '(0,0)'::tid order by ctid limit 1",
  );
  const sealed = box.seal("again", contextOf("test"));
  await rows("update kept_key t set sealed = $1 where t.ctid = $2::tid", sealed, row?.ctid);
  expect(await rows("select sealed from sealed_key")).toEqual([{ sealed }]);
});

it("the migration leaves no index, key or sequence with an old name", async () => {
  const old =
    "^(pairing_letter|kept_key|event_head|message_tally|tally_mark|tally_open|sign_in_guess|restored|mailbox)_";
  expect(
    await rows("select relname from pg_class where relkind in ('i', 'S') and relname ~ $1", old),
  ).toEqual([]);
});
