import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import { MESSAGE_RETENTION } from "./message-retention.ts";
import { applyRetention } from "./retention.ts";

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

/** The id of a message sent this many days ago. */
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

async function kept(ids: readonly string[]): Promise<string[]> {
  const { data } = await shop.client.listMessages({ id: shop.id, q: "zebra", limit: 200 });
  return ids.filter((id) => data.some((one) => one.message_id === id));
}

const setPlan = (days: number | null) =>
  sql`update plan set features = jsonb_build_object('max_message_retention_days', ${days}::int)
    where name = 'unlimited'`.execute(db());
const setAccount = (message_retention_days: number | null) =>
  gateway.owner.updateAccount({ settings: { message_retention_days } });

test("messages are stored forever unless a setting limits them", async () => {
  const old = await sent(4_000);
  await expireMessages(0);
  expect(await kept([old])).toEqual([old]);
});

test("messages expire with files and search words after the account's days or the gateway's", async () => {
  const [young, old] = [await sent(5), await sent(20, { base64: inBase64(SAMPLE.png) })];
  await expireMessages(30 * DAY_MS);
  expect(await kept([young, old])).toEqual([young, old]);
  await setAccount(10);
  await expireMessages(30 * DAY_MS);
  expect(await kept([young, old])).toEqual([young]);
  const { rows } = await sql`
    select id from media where message not in (select id from message)
    union all select id::text from message_search where id not in (select id from message)`.execute(db());
  expect(rows).toEqual([]);
  await setAccount(null);
});

test("the plan limits how long an account may retain messages", async () => {
  const [young, old] = [await sent(5), await sent(20)];
  await setAccount(3_000);
  await setPlan(10);
  await expireMessages(0);
  expect(await kept([young, old])).toEqual([young]);
  await setAccount(null);
  await setPlan(null);
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
