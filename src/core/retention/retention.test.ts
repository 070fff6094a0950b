import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import type { RetentionKind } from "../plans/plans.ts";
import { applyRetention } from "./retention.ts";
import { EVENT_RETENTION, LOG_RETENTION, MESSAGE_RETENTION } from "./retention-jobs.ts";

const DAY_MS = 86_400_000;
let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
});
afterAll(() => gateway.stop());

const db = () => gateway.database.db;
const expireMessages = (defaultMs: number) => applyRetention(db(), MESSAGE_RETENTION, defaultMs);
let personCount = 0;

/** Id of a message sent `daysAgo`. */
async function sent(daysAgo: number, media?: object): Promise<string> {
  const to = { id: shop.id, number: `55118${7000 + personCount++}2222` };
  const { data } = media
    ? await shop.client.sendMedia({ ...to, ...media, caption: "Zebra" })
    : await shop.client.sendText({ ...to, text: "Zebra" });
  const message_id = data.message_id ?? "";
  await waitUntil(
    async () => (await shop.client.getMessage({ id: shop.id, messageId: message_id })).data.status === "read",
  );
  const age = sql`${daysAgo} * interval '1 day'`;
  await sql`
    with m as (
      update message set sent_at = sent_at - ${age}, created_at = created_at - ${age}
      where message_id = ${message_id} returning id
    )
    update message_search set at = at - ${age} where id in (select id from m)`.execute(db());
  return message_id;
}

async function keptMessages(ids: readonly string[]): Promise<string[]> {
  const { data } = await shop.client.listMessages({ id: shop.id, q: "zebra", limit: 200 });
  return ids.filter((id) => data.some((one) => one.message_id === id));
}

const setAccount = (message_retention_days: number | null) =>
  gateway.owner.updateAccount({ settings: { message_retention_days } });

test("messages are stored forever unless a setting limits them", async () => {
  const old = await sent(4_000);
  await expireMessages(0);
  expect(await keptMessages([old])).toEqual([old]);
});

test("messages expire with files and search words after the account's days or the gateway's", async () => {
  const [young, old] = [await sent(5), await sent(20, { base64: inBase64(SAMPLE.png) })];
  await expireMessages(30 * DAY_MS);
  expect(await keptMessages([young, old])).toEqual([young, old]);
  await setAccount(10);
  await expireMessages(30 * DAY_MS);
  expect(await keptMessages([young, old])).toEqual([young]);
  const { rows } = await sql`
    select id from media where message not in (select id from message)
    union all select id::text from message_search where id not in (select id from message)`.execute(db());
  expect(rows).toEqual([]);
  await setAccount(null);
});

test("a send without an outcome is not deleted", async () => {
  const waiting = await sent(20);
  await sql`update message set status = 'pending' where message_id = ${waiting}`.execute(db());
  await expireMessages(10 * DAY_MS);
  const { rows } = await sql`select status from message where message_id = ${waiting}`.execute(db());
  expect(rows).toEqual([{ status: "pending" }]);
});

test("messages are listed by the track_id of their send, through an index", async () => {
  const number = `55118${7000 + personCount++}2222`;
  const mine = await shop.client.sendText({ id: shop.id, number, text: "One", track_id: "order-7" });
  await shop.client.sendText({ id: shop.id, number, text: "Two", track_id: "order-8" });
  const { data } = await shop.client.listMessages({ id: shop.id, track_id: "order-7" });
  expect(data.map((one) => one.message_id)).toEqual([mine.data.message_id]);
  const { rows } = await sql<{ indexdef: string }>`
    select indexdef from pg_indexes where indexname = 'message_track'`.execute(db());
  expect(rows[0]?.indexdef).toContain("(instance_id, track_id, sent_at DESC, id DESC)");
});

afterEach(() => sql`update account set settings = '{}'`.execute(db()));

const keepFor = (kind: RetentionKind, days: number | null) =>
  gateway.owner.updateAccount({ settings: { [`${kind}_retention_days`]: days } });

async function ids(query: ReturnType<typeof sql<{ id: unknown }>>): Promise<unknown[]> {
  return (await query.execute(db())).rows.map(({ id }) => id);
}

/** Four events of twenty days ago, in order. */
async function oldEvents(): Promise<string[]> {
  const count = async () => (await ids(sql`select id from event where event = 'message.received'`)).length;
  const before = await count();
  for (const text of ["1", "2", "3", "4"])
    await shop.client.sandboxReceive({ id: shop.id, from: newPhone(), text });
  const all = sql<{
    id: string;
  }>`select event_id as id from event where event = 'message.received' order by sequence desc limit 4`;
  await waitUntil(async () => (await count()) === before + 4);
  await sql`
    update event set created_at = created_at - interval '20 days'
    where instance_id = ${shop.id} and created_at > now() - interval '10 days'`.execute(db());
  return (await ids(all)).toReversed() as string[];
}

const kept = (among: string[]) =>
  ids(sql`select event_id as id from event where event_id = any(${among}) order by sequence`);

test("events are deleted in order, and an event with a pending delivery keeps all later ones", async () => {
  const events = await oldEvents();
  const [, second, third] = events;
  await sql`
    insert into delivery (event_id, webhook_id, account_id, instance_id, created_at, status)
    select event_id, 99, account_id, instance_id, created_at, case event_id when ${third} then 'retrying' else 'failed' end
    from event where event_id in (${second}, ${third})`.execute(db());
  await keepFor("event", 30);
  await applyRetention(db(), EVENT_RETENTION);
  expect(await kept(events)).toEqual(events);
  await keepFor("event", 10);
  await applyRetention(db(), EVENT_RETENTION);
  expect(await kept(events)).toEqual(events.slice(2));
  const deliveries = sql<{ id: string }>`select event_id as id from delivery where webhook_id = 99`;
  expect(await ids(deliveries)).toEqual([third]);
  await sql`update delivery set status = 'delivered'`.execute(db());
  await applyRetention(db(), EVENT_RETENTION);
  expect(await kept(events)).toEqual([]);
  expect(await ids(deliveries)).toEqual([]);
});

test("an event that waits for an integration is not deleted", async () => {
  const events = await oldEvents();
  const { rows } = await sql<{ lane: number }>`
    with l as (insert into lane (kind, key) values ('nobody', '1') returning id), j as (
      insert into job (lane, prio, pos, grp, ref) select id, 0, 0, '', ${JSON.stringify({ do: "event", event_id: events[1] })}::jsonb from l)
    insert into integration (account_id, instance_id, provider, lane, event_names, config)
    select account_id, ${shop.id}, 'n8n', l.id, '{}', '{}' from instance, l where instance.id = ${shop.id}
    returning lane`.execute(db());
  await keepFor("event", 10);
  await applyRetention(db(), EVENT_RETENTION);
  expect(await kept(events)).toEqual(events.slice(1));
  await sql`delete from integration where lane = ${rows[0]?.lane}`.execute(db());
});

test("logs of requests, connections and deliveries are deleted after their account's retention", async () => {
  const { rows } = await sql<{
    account_id: number;
  }>`select account_id from instance where id = ${shop.id}`.execute(db());
  const account = rows[0]?.account_id;
  for (const [age, owner] of [
    [20, account],
    [5, account],
    [20, 4_711],
  ] as const) {
    const at = sql`now() - ${age} * interval '1 day'`;
    const instance = owner === account ? shop.id : 4_711;
    await sql`
      insert into api_log (account_id, caller, method, route, status, duration_ms, request_id, created_at)
      values (${owner}, 'key', 'GET', '/old', 200, 1, ${`${owner} ${age}`}, ${at})`.execute(db());
    await sql`
      insert into connection_log (account_id, instance_id, status, reason, created_at)
      values (${owner}, ${instance}, 'connected', ${`${owner} ${age}`}, ${at})`.execute(db());
    await sql`
      insert into attempt (event_id, event_at, event, webhook_id, webhook_name, account_id, instance_id, url, attempt,
        trigger, success, duration_ms, created_at)
      values (${`${owner} ${age}`}, now(), 'x', 1, 'x', ${owner}, ${instance}, '', 1, 'auto', true, 1, ${at})`.execute(
      db(),
    );
  }
  await keepFor("log", 10);
  await applyRetention(db(), LOG_RETENTION);
  const left = [`${account} 5`, "4711 20"].sort();
  expect(await ids(sql`select request_id as id from api_log where route = '/old' order by 1`)).toEqual(left);
  expect(
    await ids(sql`select reason as id from connection_log where reason ~ '^[0-9]+ [0-9]+$' order by 1`),
  ).toEqual(left);
  expect(await ids(sql`select event_id as id from attempt where event = 'x' order by 1`)).toEqual(left);
});
