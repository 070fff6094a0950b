import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { createLog } from "../../platform/log/log.ts";
import { failureAdvice } from "./failure-advice.ts";

const lines: { level: string; msg: string; webhook_id?: number }[] = [];
let gateway: TestGateway;
let shop: TestInstance;
let receiver: Receiver;

beforeAll(async () => {
  const log = createLog("info", { write: (line) => lines.push(JSON.parse(line)) });
  const env = { WAYGATE_RETRY_SCHEDULE: "30s,3m,12m" };
  [gateway, receiver] = await Promise.all([startTestGateway(env, undefined, log), startReceiver()]);
  shop = await gateway.connectInstance();
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

/** A webhook with an unavailable receiver, and its log lines. */
async function addFailing(name: string) {
  await receiver.shut();
  const { data: webhook } = await shop.client.createWebhook({
    id: shop.id,
    name,
    url: receiver.url,
    events: ["message.received"],
  });
  receiver.trust(webhook.secret);
  return { webhook, about: () => lines.filter(({ webhook_id }) => webhook_id === webhook.id) };
}

test("the first failure and the recovery of a webhook are logged with advice, but no others", async () => {
  const { id, client } = shop;
  const { webhook, about } = await addFailing("Shop");
  const tries = async (success: boolean) => {
    const { data } = await client.listDeliveryLogs({ id, webhook_id: webhook.id });
    return data.filter((row) => row.success === success).length;
  };
  await client.sandboxReceive({ id, from: "5511977770001", text: "One" });
  await waitUntil(() => about().length > 0);
  await client.sandboxReceive({ id, from: "5511977770002", text: "Two" });
  await waitUntil(async () => (await tries(false)) >= 2);
  const failing = {
    level: "warn",
    msg: "a webhook has begun to fail",
    webhook_id: webhook.id,
    name: "Shop",
    instance_id: id,
    url: receiver.url,
    error: "The connection was refused. (ECONNREFUSED)",
    recommended_action: expect.stringContaining("Start the receiver"),
  };
  expect(about()).toMatchObject([failing]);
  await receiver.open();
  await gateway.advance(60_000);
  await waitUntil(async () => (await tries(true)) >= 2);
  await waitUntil(() => about().length > 1);
  const recovered = { level: "info", msg: "a webhook works again", webhook_id: webhook.id };
  expect(about()).toMatchObject([failing, recovered]);
});

test("a failing webhook that another node has just logged is not logged a second time", async () => {
  const { id, client } = shop;
  const { db } = gateway.database;
  const { webhook, about } = await addFailing("Shared");
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable("webhook")
      .set({ failing_since: new Date() })
      .where("id", "=", webhook.id)
      .execute();
    await client.sandboxReceive({ id, from: "5511977770003", text: "One" });
    await waitUntil(async () => {
      const { rows } = await sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
          and query like '%parkedGroup%'`.execute(db);
      return rows.length > 0;
    });
  });
  const tries = async () => (await client.listDeliveryLogs({ id, webhook_id: webhook.id })).data.length;
  await waitUntil(async () => (await tries()) === 1);
  await receiver.open();
  await gateway.advance(60_000);
  await waitUntil(() => about().some(({ level }) => level === "info"));
  expect(about()).toMatchObject([{ level: "info", msg: "a webhook works again" }]);
});

test.each([
  [{ status_code: null, error_class: "refused" }, "Start the receiver"],
  [{ status_code: null, error_class: "tls" }, "certificate"],
  [{ status_code: null }, "Start the receiver"],
  [{ status_code: 302 }, "redirect"],
  [{ status_code: 401 }, "secret"],
  [{ status_code: 404 }, "path"],
  [{ status_code: 500 }, "log of the receiver"],
])("the advice about %j names the cause", (failed, words) => {
  expect(failureAdvice(failed)).toContain(words);
});
