import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { dropPartitionsBefore, ensurePartitions, PARTITIONED } from "./partitions.ts";

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});

afterAll(() => store.drop());

async function partitions(table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`.execute(
    store.database.db,
  );
  return rows.map((row) => row.name);
}

async function logAt(at: string): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    insert into connection_log (instance_id, account_id, status, created_at) values (1, 1, 'connected', ${at})
    returning tableoid::regclass::text as name`.execute(store.database.db);
  return rows[0]?.name ?? "";
}

test("every table has partitions from yesterday to eight days ahead, and a default", async () => {
  await ensurePartitions(store.database.db, new Date("2031-02-26T23:59:59Z"));
  for (const table of PARTITIONED) {
    const names = await partitions(table);
    expect(names).toContain(`${table}_default`);
    expect(names.filter((name) => name.startsWith(`${table}_2031`))).toEqual(
      ["0225", "0226", "0227", "0228", "0301", "0302", "0303", "0304", "0305", "0306"].map(
        (d) => `${table}_2031${d}`,
      ),
    );
  }
});

test("a row goes to the partition of its UTC day, whatever the session's time zone is", async () => {
  expect(await logAt("2031-02-27T00:00:00Z")).toBe("connection_log_20310227");
  expect(await logAt("2031-02-27T01:30:00+03:00")).toBe("connection_log_20310226");
  expect(await logAt("2031-02-27T23:59:59.999999Z")).toBe("connection_log_20310227");
});

test("each daily partition has the indexes of its table", async () => {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from pg_index where indrelid = 'event_20310226'::regclass`.execute(
    store.database.db,
  );
  expect(rows[0]?.n).toBe(3);
});

test("four processes at once create each daily partition once", async () => {
  const now = new Date("2032-05-05T12:00:00Z");
  await Promise.all(Array.from({ length: 4 }, () => ensurePartitions(store.database.db, now)));
  expect((await partitions("event")).filter((name) => name.startsWith("event_2032"))).toHaveLength(10);
});

test("complete partitions cost one query and no lock", async () => {
  const now = new Date("2032-08-01T12:00:00Z");
  await ensurePartitions(store.database.db, now);
  let queries = 0;
  const counted = store.database.db.withPlugin({
    transformQuery({ node }) {
      queries += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await ensurePartitions(counted, now);
  expect(queries).toBe(1);
});

test("a day with rows in the default partition is left out, and the others are created", async () => {
  expect(await logAt("2033-01-03T10:00:00Z")).toBe("connection_log_default");
  await ensurePartitions(store.database.db, new Date("2033-01-01T00:00:00Z"));
  const names = await partitions("connection_log");
  expect(names).not.toContain("connection_log_20330103");
  expect(names).toContain("connection_log_20330102");
  expect(names).toContain("connection_log_20330104");
  expect(await logAt("2033-01-03T11:00:00Z")).toBe("connection_log_default");
});

test("a lock on one table does not delay the partitions of the other tables", async () => {
  const now = new Date("2034-01-01T00:00:00Z");
  await store.database.db.transaction().execute(async (trx) => {
    // Independent of the time that the other tables need.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`lock table event_default in access share mode`.execute(trx);
    await ensurePartitions(store.database.db, now);
  });
  expect((await partitions("event")).filter((name) => name.startsWith("event_2034"))).toEqual([]);
  expect(await partitions("delivery")).toContain("delivery_20340101");
  await ensurePartitions(store.database.db, now);
  expect(await partitions("event")).toContain("event_20340101");
});

test("dropping removes whole days before the date and such rows in the default partition only", async () => {
  await ensurePartitions(store.database.db, new Date("2031-02-26T00:00:00Z"));
  expect(await logAt("2030-06-01T00:00:00Z")).toBe("connection_log_default");
  const dropped = await dropPartitionsBefore(store.database.db, new Date("2031-02-27T18:00:00Z"));
  expect(dropped).toContain("event_20310225");
  expect(dropped).toContain("connection_log_20310226");
  expect(dropped).not.toContain("event_20310227");
  const left = await partitions("event");
  expect(left).toContain("event_20310227");
  expect(left).toContain("event_default");
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from connection_log where created_at < '2031-02-27T00:00:00Z'`.execute(
    store.database.db,
  );
  expect(rows[0]?.n).toBe(0);
  expect(await dropPartitionsBefore(store.database.db, new Date("2031-02-27T18:00:00Z"))).toEqual([]);
});
