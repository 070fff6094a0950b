import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";

const PATH = "/services/T0AB12CD3/xYzToken9?key=QuerySecret1&flag";
const MASKED = "/services/***/***?key=***&***";
const SECRETS = /T0AB12CD3|xYzToken9|QuerySecret1/;

let gateway: TestGateway;
let receiver: Receiver;
let shop: TestInstance;

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startTestGateway(), startReceiver()]);
  shop = await gateway.connectInstance();
  receiver.trust(shop.webhook_secret);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

async function findRows(): Promise<string> {
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(w)::text as row from webhook w union all select to_jsonb(a)::text from attempt a`.execute(
    gateway.database.db,
  );
  return rows.map(({ row }) => row).join();
}

async function receive(text: string): Promise<void> {
  const { id, client } = shop;
  await client.sandboxReceive({ id, from: "5521966660000", text });
  await waitUntil(() => receiver.received.some(({ body }) => JSON.stringify(body).includes(text)));
}

describe("the URL of a webhook", () => {
  it("is sealed in the database, masked in logs, and complete for its owner and its receiver", async () => {
    const { id, client } = shop;
    const url = new URL(PATH, receiver.url).href;
    await client.updateDefaultWebhook({ id, url });
    await receive("First");
    expect(receiver.received.at(-1)?.path).toBe(PATH);
    expect((await client.listWebhooks({ id })).data[0]?.url).toBe(url);
    await waitUntil(async () => (await client.listDeliveryLogs({ id })).data.length > 0);
    expect((await client.listDeliveryLogs({ id })).data[0]?.url).toBe(new URL(MASKED, receiver.url).href);
    expect(await findRows()).not.toMatch(SECRETS);
  });
});
