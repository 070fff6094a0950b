import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../../../../test/servers/receiver.ts";
import { expectAtMost, type StatementMeter, startStatementMeter } from "../../../../test/statement-meter.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";

describe("a text to a connected WhatsApp session with one webhook", () => {
  let on: WhatsAppGateway;
  let receiver: Receiver;
  let meter: StatementMeter;
  let contact: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    on = await startWhatsAppGateway(receiver.url);
    receiver.trust(on.instance.webhook_secret);
    contact = (await on.control.addPerson({ name: "Ana" })).phone;
    for (const text of ["Oi", "Tudo bem?", "Até logo"]) await receive(text);
    meter = startStatementMeter(on.gateway.database.url);
  });

  afterAll(async () => {
    meter?.stop();
    await receiver?.close();
    await on?.stop();
  });

  async function receive(text: string): Promise<void> {
    const message_id = await on.control.sendMessage(contact, on.instance.phone, text);
    await receiver.waitFor(({ body }) => body.data.message.message_id === message_id);
  }

  test("costs no statement and no commit beyond its budget, from the network to the end of the delivery", async () => {
    const cost = await meter.measure(8, () => receive("How much is it?"));
    expect(cost.statements.length).toBeGreaterThan(0);
    expectAtMost(cost, { statements: 4, transactions: 2, commits: 2 });
  });
});
