import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { expectAtMost, type StatementMeter, startStatementMeter } from "../../../test/statement-meter.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../test/whatsapp-gateway.ts";

/** Fills the caches of prepared statements. */
const WARM_UP = ["Oi", "Tudo bem?", "Até logo"];

let on: WhatsAppGateway;
let receiver: Receiver;
let meter: StatementMeter;
let contact: string;

beforeAll(async () => {
  receiver = await startReceiver();
  on = await startWhatsAppGateway(receiver.url);
  receiver.trust(on.instance.webhook_secret);
  contact = (await on.control.addPerson({ name: "Ana" })).phone;
  for (const text of WARM_UP) {
    await sendUntilDelivered(text);
    await receive(text);
  }
  meter = startStatementMeter(on.gateway.database.url);
});
afterAll(async () => {
  meter?.stop();
  await receiver?.close();
  await on?.stop();
});

async function sendUntilDelivered(text: string): Promise<void> {
  const { client, id } = on.instance;
  const { data } = await client.sendText({ id, number: contact, text });
  const { pool } = on.gateway.database;
  const find = "select from message where message_id = $1 and status = 'delivered'";
  await waitUntil(async () => (await pool.query(find, [data.message_id])).rowCount === 1);
}

async function receive(text: string): Promise<void> {
  const message_id = await on.control.sendMessage(contact, on.instance.phone, text);
  await receiver.waitFor(({ body }) => body.data.message.message_id === message_id);
}

describe("a connected WhatsApp session with one webhook", () => {
  test.each([
    ["a text with its receipt", sendUntilDelivered, { statements: 5, transactions: 3, commits: 3 }],
    ["a received text with its delivery", receive, { statements: 4, transactions: 2, commits: 2 }],
  ] as const)("spends on %s no statement and no commit beyond its budget", async (_, work, budget) => {
    const cost = await meter.measure(8, () => work("How much is it?"));
    expect(cost.statements.length).toBeGreaterThan(0);
    expectAtMost(cost, budget);
  });
});
