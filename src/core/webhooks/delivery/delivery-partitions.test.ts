import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDeliveryStory, type DeliveryStory } from "../../../../test/stories/engine/delivery-story.ts";
import type { Job } from "../../../engine/engine.ts";
import type { Db } from "../../../platform/db/database.ts";
import { ensurePartitions } from "../../../platform/db/partitions.ts";
import type { Tables } from "../../../tables.ts";
import type { WebhookRow } from "../webhook-record.ts";
import { createAttemptWriter } from "./attempt-writer.ts";
import { createDeliveryLoader, type DeliveryRef, type LoadedDelivery } from "./delivery-loader.ts";
import { toAttemptRecord } from "./to-attempt-record.ts";

const NODE = "worker";
const DAY_MS = 86_400_000;

let story: DeliveryStory;
let db: Db;
/** Statements that `db` has run. */
let statements: string[] = [];
let instance: { id: number; account_id: number };
let webhook: WebhookRow;

beforeAll(async () => {
  story = await createDeliveryStory();
  db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: story.database.pool }),
    log: ({ query }) => void statements.push(query.sql),
  });
});
beforeEach(async () => {
  await ensurePartitions(db);
  instance = await story.addInstance();
  webhook = await story.addWebhook(instance, { url: "http://127.0.0.1:9" });
  await sql`update lane set owner = ${NODE}, epoch = 1 where id = ${webhook.lane}`.execute(db);
});
afterAll(() => story.close());

type QueuedDelivery = Job & { ref: DeliveryRef };

/** Records an event of each of these days. Returns the jobs of their deliveries. */
async function queue(...daysAgo: number[]): Promise<QueuedDelivery[]> {
  for (const days of daysAgo) {
    const draft = { event: "message.received", instance_id: instance.id, chat: "c", data: {} } as const;
    await story.record([draft]);
    if (days > 0) await moveNewest(days);
  }
  const { rows } = await sql<Omit<QueuedDelivery, "lane">>`
    select * from job where lane = ${webhook.lane} order by pos`.execute(db);
  const lane = { id: webhook.lane ?? 0, kind: "webhook", key: String(webhook.id), epoch: 1 };
  return rows.map((row) => ({ ...row, lane }));
}

async function moveNewest(days: number): Promise<void> {
  const by = sql`${days} * interval '1 day'`;
  const newest = sql`(select id from job where lane = ${webhook.lane} order by pos desc limit 1)`;
  await sql`
    with moved as (
      update job set ref = ref || jsonb_build_object('at', (ref ->> 'at')::timestamptz - ${by})
      where id = ${newest} returning ref
    ), event_moved as (
      update event e set created_at = created_at - ${by} from moved where e.event_id = ref ->> 'event_id'
    )
    update delivery d set created_at = created_at - ${by} from moved where d.event_id = ref ->> 'event_id'`.execute(
    db,
  );
}

const load = (jobs: readonly QueuedDelivery[]) => {
  const loader = createDeliveryLoader(db, story.box);
  return Promise.all(jobs.map((job) => loader.load(job.ref)));
};

/** Records a successful attempt of each. */
const succeed = (jobs: readonly QueuedDelivery[], loaded: readonly (LoadedDelivery | undefined)[]) => {
  const writer = createAttemptWriter(db, NODE);
  const records = jobs.flatMap((job, index) => {
    const one = loaded[index];
    const outcome = {
      outcome: "response",
      status: 200,
      headers: {},
      body: Buffer.from("ok"),
      truncated: false,
      durationMs: 1,
    } as const;
    const decision = { decision: "delivered" } as const;
    return one ? [toAttemptRecord({ job, loaded: one, outcome, attempt: 1, decision })] : [];
  });
  return Promise.all(records.map((record) => writer.write(record)));
};

async function findDeliveries(): Promise<{ place: string; status: string; attempts: number }[]> {
  const { rows } = await sql<{ place: string; status: string; attempts: number }>`
    select tableoid::regclass::text as place, status, attempts from delivery
    where webhook_id = ${webhook.id} order by id`.execute(db);
  return rows;
}

async function countAttempts(): Promise<number> {
  const { rows } = await sql`select from attempt where webhook_id = ${webhook.id}`.execute(db);
  return rows.length;
}

function nameOf(table: string, daysAgo: number): string {
  const day = new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  return `${table}_${day.replaceAll("-", "")}`;
}

const dropDay = (daysAgo: number) =>
  sql`drop table ${sql.table(nameOf("event", daysAgo))}, ${sql.table(nameOf("delivery", daysAgo))}`.execute(
    db,
  );

describe("deliveries", () => {
  test("of two days are loaded and recorded in one batch, each in the partition of its day", async () => {
    const jobs = await queue(1, 0);
    const loaded = await load(jobs);
    expect(loaded.map((one) => one?.event.event_id)).toEqual(jobs.map(({ ref }) => ref.event_id));
    statements = [];
    expect(await succeed(jobs, loaded)).toMatchObject([{ isOwned: true }, { isOwned: true }]);
    expect(statements).toHaveLength(1);
    expect(await findDeliveries()).toEqual([
      { place: nameOf("delivery", 1), status: "delivered", attempts: 1 },
      { place: nameOf("delivery", 0), status: "delivered", attempts: 1 },
    ]);
    expect(await countAttempts()).toBe(2);
    expect(await queue()).toEqual([]);
  });

  test("of a day that has no partition are loaded and recorded once", async () => {
    const jobs = await queue(20, 20);
    const loaded = await load(jobs);
    expect(loaded.map((one) => one?.event.event_id)).toEqual(jobs.map(({ ref }) => ref.event_id));
    expect(await succeed(jobs, loaded)).toMatchObject([{ isOwned: true }, { isOwned: true }]);
    const delivered = { place: "delivery_default", status: "delivered", attempts: 1 };
    expect(await findDeliveries()).toEqual([delivered, delivered]);
    expect(await countAttempts()).toBe(2);
    expect(await queue()).toEqual([]);
  });

  test("with reports are recorded with them, also if their day has no partition", async () => {
    await story.addWebhook(instance, { url: "http://127.0.0.1:9", events: ["webhook.sent"] });
    const jobs = await queue(20, 20);
    await succeed(jobs, await load(jobs));
    const { rows } = await sql`
      select from event where instance_id = ${instance.id} and event = 'webhook.sent'`.execute(db);
    expect(rows).toHaveLength(2);
    expect(await countAttempts()).toBe(2);
  });

  test("of a day that is dropped meanwhile are recorded as attempts, and not loaded again", async () => {
    await ensurePartitions(db, new Date(Date.now() - 30 * DAY_MS));
    const jobs = await queue(30);
    const loaded = await load(jobs);
    await dropDay(30);
    expect(await load(jobs)).toEqual([undefined]);
    expect(await succeed(jobs, loaded)).toMatchObject([{ isOwned: true }]);
    expect(await countAttempts()).toBe(1);
    expect(await queue()).toEqual([]);
  });
});

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  Plans?: Plan[];
}

/** Tables and indexes in a generic plan. */
async function explain(statement: string): Promise<string[]> {
  const { rows } = await story.database.pool.query(`explain (generic_plan, format json) ${statement}`);
  const found: string[] = [];
  const collect = (plan: Plan): void => {
    const { "Node Type": type, "Relation Name": table, "Index Name": index = type } = plan;
    if (table !== undefined && type !== "ModifyTable") found.push(`${table} ${index}`);
    for (const inner of plan.Plans ?? []) collect(inner);
  };
  collect(rows[0]["QUERY PLAN"][0].Plan);
  return found;
}

describe("with tables of 40 days, a plan for all values", () => {
  beforeEach(async () => {
    for (const days of [36, 27, 18, 9]) await ensurePartitions(db, new Date(Date.now() - days * DAY_MS));
    await sql`
      insert into delivery (event_id, webhook_id, account_id, instance_id, created_at)
      select 'e' || n, 0, 0, 0, now() from generate_series(1, 20000) n`.execute(db);
    await sql`
      insert into event (event_id, event, account_id, instance_id, sequence, chat, tags, body, created_at)
      select 'e' || n, 'e', 0, 0, n, 'c', '{}', '', now() from generate_series(1, 20000) n`.execute(db);
    await sql`analyze event, delivery, job, webhook, lane`.execute(db);
  });

  test("finds events and deliveries in the partition of the day by their keys", async () => {
    const jobs = await queue(0);
    statements = [];
    await succeed(jobs, await load(jobs));
    const [loading = "", writing = ""] = statements;
    const isPartitioned = (scan: string) => /^(event|delivery)_/.test(scan);
    const [event, delivery] = [nameOf("event", 0), nameOf("delivery", 0)];
    expect((await explain(loading)).filter(isPartitioned).toSorted()).toEqual([
      `${delivery} ${delivery}_pkey`,
      `${event} ${event}_pkey`,
    ]);
    expect((await explain(writing)).filter(isPartitioned)).toEqual([`${delivery} ${delivery}_pkey`]);
  });
});
