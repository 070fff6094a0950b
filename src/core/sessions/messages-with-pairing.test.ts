import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../test/whatsapp-gateway.ts";

let on: WhatsAppGateway;
let ana: string;
let bia: string;

beforeAll(async () => {
  on = await startWhatsAppGateway();
  ana = (await on.control.addPerson({ name: "Ana" })).phone;
  bia = (await on.control.addPerson({ name: "Bia" })).phone;
  for (const person of [ana, bia]) await receive(person, "Oi");
});

afterAll(() => on?.stop());

async function rows<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
  return (await on.gateway.database.pool.query(text, values)).rows;
}

const say = (person: string, text: string) => on.control.sendMessage(person, on.instance.phone, text);

const eventsOf = (messageId: string) =>
  rows<{ commit: string }>(
    `select xmin::text as commit from event where instance_id = $1 and event = 'message.received'
      and convert_from(body, 'UTF8')::jsonb #>> '{data,message,message_id}' = $2`,
    on.instance.id,
    messageId,
  );

/** Resolves with the id of the message once it is stored. */
async function receive(person: string, text: string): Promise<string> {
  const id = await say(person, text);
  await waitUntil(async () => (await eventsOf(id)).length > 0);
  return id;
}

const receiptOf = async (id: string) =>
  (await on.control.ledger()).deliveries.find((one) => one.id === id)?.receipted_at;

describe("a message from WhatsApp", () => {
  test("is stored in the commit that stores its Signal session and the marker of its journal entry", async () => {
    const id = await receive(ana, "How much is it?");
    const commits = await rows<{ commit: string }>(
      `select xmin::text as commit from message where message_id = $1
       union select max(xmin::text::bigint)::text from pairing_key where instance_id = $2 and kind = 'session'
       union select xmin::text from journal_entry where instance_id = $2 and is_done
         and position = (select max(position) from journal_entry where instance_id = $2)`,
      id,
      on.instance.id,
    );
    expect(commits).toEqual(await eventsOf(id));
  });

  test("that the database rejects is retried alone, and its session goes on", async () => {
    await rows(`create function reject() returns trigger language plpgsql as
      $$begin raise exception 'rejected'; end$$`);
    await rows(`create trigger reject before insert on message for each row
      when (new.content ->> 'text' = 'rejected') execute function reject()`);
    const rejected = await say(ana, "rejected");
    await waitUntil(async () => (await receiptOf(rejected)) !== undefined);
    await receive(bia, "And me?");
    const { id, client } = on.instance;
    expect((await client.sendText({ id, number: ana, text: "Hi" })).data.status).toBe("sent");
    expect(await eventsOf(rejected)).toEqual([]);
    const kept = await rows("select from journal_entry where instance_id = $1 and not is_done", id);
    expect(kept).toHaveLength(1);
    await rows("drop trigger reject on message");
    await waitUntil(async () => (await eventsOf(rejected)).length > 0);
    expect(await eventsOf(rejected)).toHaveLength(1);
  });

  test("of an ignored group is not stored, and gets its receipt", async () => {
    const { id, client, phone } = on.instance;
    const { jid: group } = await on.control.addGroup("Team", [ana, phone]);
    const first = await on.control.sendMessage(ana, group, "first");
    await waitUntil(async () => (await eventsOf(first)).length > 0);
    await client.updateInstance({ id, settings: { ignore_groups: true } });
    const ignored = await on.control.sendMessage(ana, group, "second");
    await waitUntil(async () => (await receiptOf(ignored)) !== undefined);
    await receive(ana, "directly");
    expect(await eventsOf(ignored)).toEqual([]);
    expect(await rows("select from journal_entry where instance_id = $1 and not is_done", id)).toEqual([]);
  });
});

test("a contact's file with an address of its own is never fetched from there, even if the policy allows the address", async () => {
  let hits = 0;
  const hostile = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  await once(hostile.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
  for (const directPath of ["/v/x", `@${host}/x`, `//${host}/x`, ".attacker.example/x", ""]) {
    const [mediaKey, fileSha256, fileEncSha256] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const keys = { mediaKey, fileSha256, fileEncSha256, fileLength: 3, mimetype: "image/png" };
    const message = { imageMessage: { url: `https://${host}/x`, directPath, ...keys } };
    await on.control.sendMessage(ana, on.instance.phone, { kind: "raw", message });
  }
  await waitUntil(async () => {
    const files = await rows<{ status: string }>("select status from media");
    return files.length === 5 && files.every(({ status }) => status !== "pending");
  });
  expect(hits).toBe(0);
  hostile.close();
});
