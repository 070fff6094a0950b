import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { createGate } from "../../../../test/gate.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../../test/gateway.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../../../test/servers/database-proxy.ts";
import { type Receiver, startReceiver } from "../../../../test/servers/receiver.ts";
import { textIs } from "../../../../test/stories/webhook-story.ts";

let store: TestDatabase;
let proxy: DatabaseProxy;
let gateway: TestGateway;
let receiver: Receiver;

beforeEach(async () => {
  store = await createTestDatabase();
  proxy = await startDatabaseProxy(store.url);
  gateway = await startTestGateway({ DATABASE_URL: proxy.database.url, WAYGATE_WEBHOOK_TIMEOUT: "10s" });
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await gateway.stop();
  await proxy.close();
  await store.drop();
});

/** An instance whose messages go to the receiver. */
async function connectInstance() {
  const { id, client } = await gateway.connectInstance();
  const { data: webhook } = await client.createWebhook({
    id,
    url: receiver.url,
    events: ["message.received"],
  });
  receiver.trust(webhook.secret);
  return { id, client, webhook };
}

test("a delivery result that cannot be stored is stored after the database returns, only once", async () => {
  const { id, client } = await connectInstance();
  const held = createGate();
  receiver.respond(async (_, response) => {
    await held.opened;
    response.writeHead(200).end();
  });
  await client.sandboxReceive({ id, from: "5511977771011", text: "Held" });
  await receiver.waitFor(textIs("Held"));
  proxy.cut();
  held.open();
  const refused = proxy.refused();
  await waitUntil(() => proxy.refused() > refused + 2);
  proxy.restore();
  await waitUntil(async () => {
    const logs = await client.listDeliveryLogs({ id }).catch(() => undefined);
    return logs?.data.length === 1;
  });
  const { data } = await client.listEvents({ id, event: "message.received" });
  expect(data[0]?.deliveries[0]).toMatchObject({ status: "delivered", attempts: 1 });
  await client.sandboxReceive({ id, from: "5511977771011", text: "Next" });
  await receiver.waitFor(textIs("Next"));
  expect(receiver.received.filter(textIs("Held"))).toHaveLength(1);
});

test("a result that is stored although the connection breaks before the response is stored only once", async () => {
  const { id, client, webhook } = await connectInstance();
  const blocker = await store.database.pool.connect();
  receiver.respond(async (_, response) => {
    // The recording waits for this row.
    await blocker.query("begin");
    await blocker.query("select from webhook where id = $1 for update", [webhook.id]);
    response.writeHead(200).end();
  });
  await client.sandboxReceive({ id, from: "5511977771012", text: "Cut off" });
  await waitUntil(async () => {
    const { rows } = await store.database.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length > 0;
  });
  proxy.cut();
  await blocker.query("commit");
  blocker.release();
  proxy.restore();
  await waitUntil(async () => {
    const { rows } = await store.database.pool.query("select from job where ref ->> 'delivery' is not null");
    return rows.length === 0;
  });
  receiver.respond((_, response) => void response.writeHead(200).end());
  await client.sandboxReceive({ id, from: "5511977771012", text: "Next" });
  await receiver.waitFor(textIs("Next"));
  await waitUntil(async () => (await client.listDeliveryLogs({ id })).data.length > 1);
  const { data } = await client.listDeliveryLogs({ id });
  expect(data.map(({ attempt }) => attempt)).toEqual([1, 1]);
  expect(receiver.received.filter(textIs("Cut off"))).toHaveLength(1);
});
