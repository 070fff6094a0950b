import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { expectAtMost, type StatementMeter, startStatementMeter } from "../../../../test/statement-meter.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";

describe("a text on a connected WhatsApp session", () => {
  let on: WhatsAppGateway;
  let meter: StatementMeter;
  let contact: string;

  beforeAll(async () => {
    on = await startWhatsAppGateway();
    contact = (await on.control.addPerson({ name: "Ana" })).phone;
    for (const text of ["Oi", "Tudo bem?", "Até logo"]) await sendUntilDelivered(text);
    meter = startStatementMeter(on.gateway.database.url);
  });

  afterAll(async () => {
    meter?.stop();
    await on?.stop();
  });

  async function sendUntilDelivered(text: string): Promise<void> {
    const { client, id } = on.instance;
    const { data } = await client.sendText({ id, number: contact, text });
    const { pool } = on.gateway.database;
    const find = "select from message where message_id = $1 and status = 'delivered'";
    await waitUntil(async () => (await pool.query(find, [data.message_id])).rowCount === 1);
  }

  test("costs no statement and no commit beyond its budget, from the request to its delivery receipt", async () => {
    const cost = await meter.measure(8, () => sendUntilDelivered("How much is it?"));
    expect(cost.statements.length).toBeGreaterThan(0);
    expectAtMost(cost, { statements: 5, transactions: 3, commits: 3 });
  });
});
