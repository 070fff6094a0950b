import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, startTestGateway, type TestGateway, waitUntil } from "../../../../../test/gateway.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../../../../../test/whatsapp-server/server.ts";
import { silenceConsole } from "../../../../../test/whatsapp-server/silence-log.ts";
import { trustAuthority } from "../../../../../test/whatsapp-stage.ts";
import { type Client, createClient } from "../../../../client/client.ts";

let network: WhatsAppServer;
let gateway: TestGateway;
let client: Client;
let id: number;
let me: string;

beforeAll(async () => {
  silenceConsole();
  network = await startWhatsAppServer();
  await network.control.settings({ receiptDelayMs: 600_000 });
  trustAuthority(network.caFile);
  gateway = await startTestGateway({
    WAYGATE_WHATSAPP_URL: network.url,
    WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
    WAYGATE_ACK_TIMEOUT: "5s",
    WAYGATE_DOUBT_WAIT: "1s",
  });
  me = (await network.control.addPerson({ phone: newPhone() })).phone;
  const { data } = await gateway.owner.createInstance({ name: "Sales", network: "whatsapp" });
  id = data.id;
  client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
  await network.control.scan(me, (await client.connectInstance({ id })).data.qr_code ?? "");
  await connected();
});

afterAll(async () => {
  await gateway.stop();
  await network.close();
});

const connected = () => waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
const person = async () => (await network.control.addPerson({ phone: newPhone() })).phone;
const logged = async (messageId: string) => (await client.getMessage({ id, messageId })).data;
const arrivalsOf = (messageId: string) => network.control.arrivals(messageId);
/** Suppresses the acknowledgement and the receipts of the message. */
const withoutAnswers = (phone: string, times: number) =>
  network.control.fault({ fault: "ack_lost", to: phone, times });

async function refusalOf(sending: Promise<unknown>) {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error as { code: string; details: { message_id: string; sent: unknown } };
}

describe("a sync send whose acknowledgement is lost", () => {
  test.concurrent("is reported as unknown, and its key returns the message that is resent with its id", async () => {
    const number = await person();
    await withoutAnswers(number, 1);
    const send = () => client.sendText({ id, number, text: "Once" }, { idempotencyKey: "lost" });
    const refused = await refusalOf(send());
    expect(refused).toMatchObject({ code: "SEND_TIMEOUT", details: { sent: "unknown" } });
    const { data } = await send();
    expect(data).toMatchObject({ message_id: refused.details.message_id, status: "sent" });
    expect(await arrivalsOf(refused.details.message_id)).toBe(2);
    expect((await client.listMessages({ id, chat: data.jid })).data).toHaveLength(1);
  });

  test.concurrent("delays the next send of its chat only until it is repeated", async () => {
    const number = await person();
    await withoutAnswers(number, 1);
    const refused = await refusalOf(client.sendText({ id, number, text: "First" }));
    const { data } = await client.sendText({ id, number, text: "Second" });
    expect(data.status).toBe("sent");
    expect((await logged(refused.details.message_id)).status).toBe("sent");
  });

  test.concurrent("stops blocking its chat after three attempts on one connection and is still retried", async () => {
    const number = await person();
    await withoutAnswers(number, 3);
    const refused = await refusalOf(client.sendText({ id, number, text: "Stuck" }));
    const { message_id } = refused.details;
    await waitUntil(async () => (await groupOf(message_id))?.startsWith("job:"));
    await client.sendText({ id, number, text: "Behind" });
    await waitUntil(async () => (await logged(message_id)).status === "sent");
    expect(await arrivalsOf(message_id)).toBe(4);
  });

  test("keeps waiting for a connection like an async send after its caller has left", async () => {
    const number = await person();
    await withoutAnswers(number, 2);
    const { details } = await refusalOf(client.sendText({ id, number, text: "Away" }));
    await network.control.listen(false);
    await network.control.end(me, 428);
    await waitUntil(async () => !(await client.getInstanceStatus({ id })).data.connected);
    await gateway.advance(60_000);
    expect((await logged(details.message_id)).status).toBe("pending");
    await network.control.listen(true);
    await connected();
    await gateway.advance(10_000);
    await waitUntil(async () => (await logged(details.message_id)).status === "sent");
  });
});

/** The job group of a message. */
async function groupOf(messageId: string): Promise<string | undefined> {
  const { rows } = await sql<{ grp: string }>`
    select j.grp from job j join message m on m.id = (j.ref ->> 'message')::bigint
    where m.message_id = ${messageId}`.execute(gateway.database.db);
  return rows[0]?.grp;
}
