import { afterEach, beforeEach, expect, test } from "vitest";
import { type Cable, layCable } from "../../../test/cable.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/receiver.ts";
import { textIs } from "../../../test/webhook-story.ts";

let store: TestDatabase;
let cable: Cable;
let gateway: TestGateway;
let receiver: Receiver;

beforeEach(async () => {
  store = await createTestDatabase();
  cable = await layCable(store.url);
  gateway = await startTestGateway({ DATABASE_URL: cable.database.url, WAYGATE_WEBHOOK_TIMEOUT: "10s" });
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await gateway.stop();
  await cable.close();
  await store.drop();
});

test("a delivery result that cannot be stored is stored after the database returns, only once", async () => {
  const { id, client } = await gateway.connectInstance();
  const { data: webhook } = await client.createWebhook({
    id,
    url: receiver.url,
    events: ["message.received"],
  });
  receiver.trust(webhook.secret);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.respond(async (_, response) => {
    await released;
    response.writeHead(200).end();
  });
  await client.sandboxReceive({ id, from: "5511977771011", text: "Held" });
  await receiver.waitFor(textIs("Held"));
  cable.cut();
  release();
  const refused = cable.refused();
  await waitUntil(() => cable.refused() > refused + 2);
  cable.restore();
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
