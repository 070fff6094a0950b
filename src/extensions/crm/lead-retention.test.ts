import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import type { RetentionKind } from "../../core/plans/plans.ts";
import { applyRetention } from "../../core/retention/retention.ts";
import { CAMPAIGN_RETENTION } from "../campaigns/data/campaign-retention.ts";
import { LEAD_RETENTION } from "./lead-retention.ts";

const DAY_MS = 86_400_000;
let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
});
afterAll(() => gateway.stop());

const db = () => gateway.database.db;

afterEach(() => sql`update account set settings = '{}'`.execute(db()));

const keepFor = (kind: RetentionKind, days: number | null) =>
  gateway.owner.updateAccount({ settings: { [`${kind}_retention_days`]: days } });

async function ids(query: ReturnType<typeof sql<{ id: unknown }>>): Promise<unknown[]> {
  return (await query.execute(db())).rows.map(({ id }) => id);
}

async function campaign(status: "completed" | "draft", endedDaysAgo: number): Promise<number> {
  const input = { name: "Spring", instance_id: shop.id, message_template: "Hello" };
  const { data } = await gateway.owner.createCampaign(input);
  await gateway.owner.addRecipients({ id: data.id, numbers: [newPhone()] });
  await sql`
    update campaign set created_at = now() - interval '99 days',
      status = case when ${status} = 'completed' then 'completed' else status end,
      ended_at = case when ${status} = 'completed' then now() - ${endedDaysAgo} * interval '1 day' end
    where id = ${data.id}`.execute(db());
  return data.id;
}

test("ended campaigns are deleted with their recipients after the configured retention", async () => {
  const [young, old, draft] = [
    await campaign("completed", 5),
    await campaign("completed", 20),
    await campaign("draft", 0),
  ];
  const kept = () => ids(sql`select id from campaign order by id`);
  await applyRetention(db(), CAMPAIGN_RETENTION);
  await applyRetention(db(), CAMPAIGN_RETENTION, 30 * DAY_MS);
  expect(await kept()).toEqual([young, old, draft]);
  await applyRetention(db(), CAMPAIGN_RETENTION, 10 * DAY_MS);
  expect(await kept()).toEqual([young, draft]);
  await keepFor("campaign", 3);
  await applyRetention(db(), CAMPAIGN_RETENTION, 10 * DAY_MS);
  expect(await kept()).toEqual([draft]);
  expect(await ids(sql`select distinct campaign_id as id from campaign_recipient`)).toEqual([draft]);
});

test("leads without a recent change or message are deleted after the retention; opt-outs stay", async () => {
  const [silent, talking, young] = [newPhone(), newPhone(), newPhone()];
  for (const phone of [silent, talking, young]) await gateway.owner.createLead({ phone });
  await shop.client.sandboxReceive({ id: shop.id, from: silent, text: "STOP" });
  await shop.client.sandboxReceive({ id: shop.id, from: talking, text: "Hi" });
  const optedOut = sql<{ id: number }>`select id from lead where opted_out_at is not null`;
  await waitUntil(async () => (await ids(optedOut)).length === 1);
  const talks = sql<{
    id: number;
  }>`select id from conversation where phone = ${talking} and last_message_at is not null`;
  await waitUntil(async () => (await ids(talks)).length === 1);
  await sql`update lead set updated_at = now() - interval '20 days' where phone <> ${young}`.execute(db());
  await sql`update conversation set last_message_at = now() - interval '20 days' where phone = ${silent}`.execute(
    db(),
  );
  await keepFor("lead", 10);
  await applyRetention(db(), LEAD_RETENTION);
  expect(await ids(sql`select phone as id from lead order by id`)).toEqual([talking, young]);
  expect(await ids(sql`select count(*) > 0 as id from suppression`)).toEqual([true]);
});

test("the plan limits the retention of an account for every kind of data", async () => {
  const phone = newPhone();
  const { data } = await gateway.owner.createLead({ phone });
  await sql`update lead set updated_at = now() - interval '20 days' where id = ${data.id}`.execute(db());
  await keepFor("lead", 3_000);
  const ceiling = (days: number | null) =>
    sql`update plan set features = jsonb_build_object('max_lead_retention_days', ${days}::int)`.execute(db());
  await ceiling(10);
  await applyRetention(db(), LEAD_RETENTION);
  await ceiling(null);
  expect(await ids(sql`select id from lead where phone = ${phone}`)).toEqual([]);
});
