import { sql } from "kysely";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { ensurePartitions } from "../../platform/db/partitions.ts";
import { createLog } from "../../platform/log/log.ts";
import { dropOldPartitions } from "./drop-old-partitions.ts";

const NOW = Date.now();
const DAY = 86_400_000;
const MONTH = { retentionMs: 30 * DAY, retryScheduleMs: [DAY, 7 * DAY], log: createLog("silent") };

let store: TestDatabase;

beforeEach(async () => {
  store = await createTestDatabase();
});

afterEach(() => store.drop());

function daysAgo(days: number): Date {
  return new Date(NOW - days * DAY);
}

function nameOf(table: string, days: number): string {
  return `${table}_${daysAgo(days).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Records an event `days` ago with a delivery. Returns the event id. */
async function recorded(days: number, status: string): Promise<string> {
  const at = daysAgo(days);
  await ensurePartitions(store.database.db, at);
  const event_id = `event-${days}-${status}`;
  const [account_id, instance_id, webhook_id] = [1, 1, 1];
  const row = { event_id, account_id, instance_id, created_at: at };
  const { db } = store.database;
  await sql`
    insert into event (event_id, event, account_id, instance_id, sequence, chat, tags, body, created_at)
    values (${event_id}, 'message.received', 1, 1, 1, '', '{}', '', ${at})`.execute(db);
  await db
    .insertInto("delivery")
    .values({ ...row, webhook_id })
    .execute();
  await sql`update delivery set status = ${status} where event_id = ${event_id}`.execute(db);
  return event_id;
}

async function kept(): Promise<string[]> {
  const { rows } = await sql<{ event_id: string }>`
    select event_id from event join delivery using (event_id, created_at) order by created_at`.execute(
    store.database.db,
  );
  return rows.map(({ event_id }) => event_id);
}

test.each(["pending", "retrying", "parked"])(
  "an event whose delivery is %s and all later events are retained until that delivery ends",
  async (status) => {
    const { db } = store.database;
    await recorded(70, "failed");
    const waiting = await recorded(57, status);
    const later = await recorded(40, "delivered");
    const young = await recorded(20, "delivered");
    const dropped = await dropOldPartitions(db, MONTH);
    expect(await kept()).toEqual([waiting, later, young]);
    expect(dropped).toContain(nameOf("event", 70));
    expect(dropped).toContain(nameOf("connection_log", 57));
    await sql`update delivery set status = 'delivered' where event_id = ${waiting}`.execute(db);
    expect(await dropOldPartitions(db, MONTH)).toEqual(
      expect.arrayContaining([nameOf("event", 57), nameOf("delivery", 57), nameOf("event", 40)]),
    );
    expect(await kept()).toEqual([young]);
  },
);

test("a pending event is retained at most for the longest schedule of retries", async () => {
  const { db } = store.database;
  // 30 days, and 20 attempts one hour apart with each delay doubled by the receiver.
  const lines: string[] = [];
  const log = createLog("warn", { write: (line: string) => void lines.push(line) });
  const hourly = { ...MONTH, retryScheduleMs: [DAY / 24], log };
  await recorded(33, "retrying");
  const waiting = await recorded(31, "retrying");
  await dropOldPartitions(db, hourly);
  expect(await kept()).toEqual([waiting]);
  expect(lines).toEqual([expect.stringContaining("pending deliveries were dropped")]);
  await dropOldPartitions(db, hourly);
  expect(lines).toHaveLength(1);
});

test("pending deliveries in the default partition are retained too", async () => {
  const { db } = store.database;
  const at = daysAgo(40);
  await sql`
    insert into delivery (event_id, webhook_id, account_id, instance_id, created_at, status)
    values ('waits', 1, 1, 1, ${at}, 'retrying'), ('done', 1, 1, 1, ${daysAgo(45)}, 'failed')`.execute(db);
  await dropOldPartitions(db, MONTH);
  expect(await db.selectFrom("delivery").select("event_id").execute()).toEqual([{ event_id: "waits" }]);
});

test("the database clock decides what is expired, even if the node's clock is wrong", async () => {
  const today = await recorded(0, "delivered");
  vi.useFakeTimers({ toFake: ["Date"], now: NOW + 366 * DAY });
  onTestFinished(() => void vi.useRealTimers());
  await dropOldPartitions(store.database.db, MONTH);
  expect(await kept()).toEqual([today]);
});
