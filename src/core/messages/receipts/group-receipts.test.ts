import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSecondRecorder } from "../../../../test/stories/engine/second-recorder.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import type { Jid, MessageId, MessageStatus } from "../../../network/driver.ts";
import { lidOf } from "../../../network/sandbox/sandbox-numbers.ts";
import type { MessageReceipt } from "./message-receipt.ts";
import type { ReceiptRecorder } from "./record-receipts.ts";

const ANA = "5511977771234";
/** A phone that sends read receipts only on request. */
const QUIET = "5511977770003";
const STRANGER = "5511966665555";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net` as Jid;
const personOf = (phone: string) => ({ jid: jidOf(phone), lid: lidOf(phone), phone, push_name: null });

let story: MessagingStory;
let group: Jid;
let recorder: ReceiptRecorder;

beforeAll(async () => {
  story = await startMessagingStory();
  recorder = createSecondRecorder(story.gateway).receipts;
});
afterAll(() => story.stop());
beforeEach(async () => {
  const { sales, friend } = story;
  const participants = [friend.phone, ANA, QUIET];
  const made = await sales.client.createGroup({ id: sales.id, name: "Team", participants });
  group = made.data.jid as Jid;
});

/** Sets the members that the gateway knows. */
const setMembers = (members: object[]) =>
  sql`update group_chat set participants = ${JSON.stringify(members)}::jsonb
    where jid = ${group} and instance_id = ${story.sales.id}`.execute(story.gateway.database.db);

async function send(to: string = group): Promise<string> {
  const { sales } = story;
  return (await sales.client.sendText({ id: sales.id, number: to, text: "Lunch?" })).data.message_id ?? "";
}

const receiptsOf = async (messageId: string) => {
  const { sales } = story;
  return (await sales.client.getMessageReceipts({ id: sales.id, messageId })).data;
};

const statusesOf = async (messageId: string) =>
  Object.fromEntries((await receiptsOf(messageId)).receipts.map(({ phone, status }) => [phone, status]));

/** Reports a receipt as a session does. */
async function report(
  phone: string,
  ids: string[],
  status: MessageStatus,
  more: Partial<MessageReceipt> = {},
) {
  await recorder.record({
    instance_id: story.sales.id,
    chat: group,
    ids: ids as MessageId[],
    from_me: true,
    status,
    at: new Date("2026-11-20T12:00:00.000Z"),
    participant: personOf(phone),
    ...more,
  });
}

/** Readers of `message.read` in event order. */
async function readersOf(messageId: string): Promise<string[]> {
  const { rows } = await sql<{ phone: string }>`
    select convert_from(body, 'UTF8')::json #>> '{data,participant,phone}' as phone from event
    where instance_id = ${story.sales.id} and event = 'message.read'
      and (convert_from(body, 'UTF8')::jsonb -> 'data' -> 'message_ids') ? ${messageId}
    order by sequence`.execute(story.gateway.database.db);
  return rows.map(({ phone }) => phone);
}

describe("a message to a group", () => {
  test("shows its receipts, and its status is read once every member has read it", async () => {
    const { sales, friend } = story;
    const id = await send();
    const statuses = { [friend.phone]: "delivered", [ANA]: "read", [QUIET]: "delivered" };
    await waitUntil(async () => (await receiptsOf(id)).delivered === 3 && (await receiptsOf(id)).read === 1);
    expect(await statusesOf(id)).toEqual(statuses);
    expect(await receiptsOf(id)).toMatchObject({
      message_id: id,
      jid: group,
      status: "delivered",
      addressees: 3,
      delivered: 3,
      read: 1,
      played: 0,
      receipts: [
        {
          jid: jidOf(ANA),
          lid: lidOf(ANA),
          phone: ANA,
          status: "read",
          delivered_at: expect.any(String),
          read_at: expect.any(String),
          played_at: null,
        },
        { status: "delivered", read_at: null },
        { status: "delivered", read_at: null },
      ],
    });

    await sales.client.sandboxRead({ id: sales.id, from: QUIET, group_jid: group, message_ids: [id] });
    await waitUntil(async () => (await receiptsOf(id)).read === 2);
    expect((await receiptsOf(id)).status).toBe("delivered");
    await friend.client.markRead({ id: friend.id, jid: group, message_id: id });
    await waitUntil(async () => (await receiptsOf(id)).read === 3);
    expect((await receiptsOf(id)).status).toBe("read");
    expect((await sales.client.getMessage({ id: sales.id, messageId: id })).data.status).toBe("read");
  });

  test("reports each reader once and by person, even if receipts are repeated", async () => {
    const id = await send();
    await waitUntil(async () => (await readersOf(id)).includes(ANA));
    await report(QUIET, [id], "read");
    await report(QUIET, [id], "read");
    await report(ANA, [id], "delivered");
    await report(ANA, [id], "read");
    expect(await readersOf(id)).toEqual([ANA, QUIET]);
    const { data } = await story.event("message.read", id);
    expect(data).toMatchObject({
      message_ids: [id],
      jid: group,
      direction: "outbound",
      participant: { jid: jidOf(ANA), lid: lidOf(ANA), phone: ANA },
      message: { message_id: id, is_group: true },
    });
    const delivered = story.receiver
      .of("message.delivered")
      .filter(({ body }) => body.data.message_ids.includes(id));
    expect(new Set(delivered.map(({ body }) => body.data.participant.phone)).size).toBe(delivered.length);
  });

  test("reports a member who plays it once more, and is played once every member has played it", async () => {
    const id = await send();
    const members = [story.friend.phone, ANA, QUIET];
    for (const phone of members) await report(phone, [id], "played");
    expect((await receiptsOf(id)).status).toBe("played");
    // A late receipt adds its time and causes no event.
    await report(QUIET, [id], "read");
    const { receipts, played } = await receiptsOf(id);
    expect([played, receipts.every((one) => one.played_at !== null)]).toEqual([3, true]);
    expect(receipts.find(({ phone }) => phone === QUIET)?.read_at).not.toBeNull();
    expect((await readersOf(id)).filter((phone) => phone === QUIET)).toHaveLength(1);
  });

  test("recognises a member by either address", async () => {
    const id = await send();
    const participant = { jid: lidOf(QUIET), lid: lidOf(QUIET), phone: null, push_name: null };
    await report(QUIET, [id], "read", { participant });
    await report(QUIET, [id], "read");
    const { receipts } = await receiptsOf(id);
    expect(receipts.filter(({ phone, lid }) => phone === QUIET || lid === lidOf(QUIET))).toMatchObject([
      { jid: jidOf(QUIET), phone: QUIET, status: "read" },
    ]);
    expect((await readersOf(id)).filter((phone) => phone === QUIET)).toHaveLength(1);
  });

  test.each([
    ["from the second on", 2],
    ["within the batch", 1],
  ])("counts a member once whose two addresses are linked one after the other, %s", async (_, known) => {
    await setMembers([]);
    const id = await send();
    const whole = personOf(STRANGER);
    const byLid = { participant: { ...whole, jid: lidOf(STRANGER), phone: null } };
    const byPhone = { participant: { ...whole, lid: null } };
    const received = async () => {
      const { receipts } = await receiptsOf(id);
      return receipts.filter(({ jid, lid }) => jid === whole.jid || lid === whole.lid);
    };
    for (const by of [byLid, byPhone].slice(0, known)) await report(STRANGER, [id], "delivered", by);
    expect(await received()).toHaveLength(known);
    // The first receipt is written alone, the others in one batch.
    await Promise.all([
      report(ANA, [id], "delivered"),
      report(STRANGER, [id], "delivered"),
      report(STRANGER, [id], "read", byLid),
      report(STRANGER, [id], "read", byPhone),
    ]);
    expect(await received()).toMatchObject([
      { jid: whole.jid, lid: whole.lid, phone: STRANGER, status: "read" },
    ]);
    expect((await readersOf(id)).filter((phone) => phone === STRANGER)).toHaveLength(1);
  });

  test("ignores receipts of non-members, for unknown messages and without a participant", async () => {
    const id = await send();
    await waitUntil(async () => (await receiptsOf(id)).delivered === 3);
    await report(STRANGER, [id, "3EB0000000000000000000"], "read");
    await report(STRANGER, [id], "played", { participant: undefined });
    expect(Object.keys(await statusesOf(id))).not.toContain(STRANGER);
    expect(await readersOf(id)).not.toContain(STRANGER);
    expect((await receiptsOf(id)).status).toBe("delivered");
  });

  test("lists the senders of receipts while the members are unknown, and its status stays sent", async () => {
    const known = await story.gateway.database.db
      .selectFrom("group_chat")
      .select("participants")
      .where("jid", "=", group)
      .where("instance_id", "=", story.sales.id)
      .executeTakeFirstOrThrow();
    await setMembers([]);
    const id = await send();
    await report(ANA, [id], "read");
    await waitUntil(async () => (await receiptsOf(id)).delivered === 3);
    expect(await receiptsOf(id)).toMatchObject({ status: "sent", addressees: null });
    const strangers = Array.from({ length: 1_100 }, (_, nth) => `55118${80_000_000 + nth}`);
    await Promise.all(strangers.map((phone) => report(phone, [id], "delivered")));
    expect((await receiptsOf(id)).receipts).toHaveLength(1_024);
    await setMembers(known.participants);
    await report(QUIET, [id], "read");
    expect(await receiptsOf(id)).toMatchObject({ status: "delivered", addressees: 3 });
  });

  test("accepts the receipts of 1,024 members at once, with one event for each", async () => {
    const phones = Array.from({ length: 1_024 }, (_, nth) => `55119${String(80_000_000 + nth)}`);
    await setMembers([story.sales.phone, ...phones.slice(1)].map(personOf));
    const id = await send();
    const all = phones.slice(1);
    await Promise.all([...all, ...all].map((phone) => report(phone, [id], "read")));
    const readers = await readersOf(id);
    expect([readers.length, new Set(readers).size]).toEqual([1_023, 1_023]);
    expect(await receiptsOf(id)).toMatchObject({ status: "read", addressees: 1_023, read: 1_023 });
  });

  test("is not the only kind with receipts: those of a direct message name the contact", async () => {
    const id = await send(ANA);
    await waitUntil(async () => (await receiptsOf(id)).read === 1);
    const time = expect.stringMatching(/Z$/);
    expect(await receiptsOf(id)).toMatchObject({
      addressees: 1,
      delivered: 1,
      played: 0,
      receipts: [{ phone: ANA, status: "read", delivered_at: time, read_at: time, played_at: null }],
    });
    const played = { ids: [id as MessageId], from_me: true, status: "played", at: new Date() } as const;
    await recorder.record({
      instance_id: story.sales.id,
      chat: jidOf(ANA) as Jid,
      ...played,
      ids: [...played.ids],
    });
    await waitUntil(async () => (await receiptsOf(id)).played === 1);
  });

  test("of another person has no receipts", async () => {
    const { sales } = story;
    const { data } = await sales.client.sandboxReceive({ id: sales.id, from: ANA, text: "Hi" });
    const id = data.message_id;
    await story.event("message.received", id);
    await expect(receiptsOf(id)).rejects.toMatchObject({
      code: "CONFLICT",
      details: { reason: "no_receipts" },
    });
    await expect(receiptsOf("NONE")).rejects.toMatchObject({ code: "MESSAGE_NOT_FOUND" });
  });
});

describe("receipts of a group", () => {
  test("are deleted with their message and by an anonymisation", async () => {
    const { db } = story.gateway.database;
    const count = async () => {
      const rows = await db.selectFrom("message_receipt").select("person").execute();
      return rows.length;
    };
    const id = await send();
    await waitUntil(async () => (await receiptsOf(id)).delivered === 3);
    await db
      .deleteFrom("message")
      .where("message_id", "=", id)
      .where("instance_id", "=", story.sales.id)
      .execute();
    const { rows } = await sql`
      select from message_receipt r where not exists (select from message m where m.id = r.message)`.execute(
      db,
    );
    expect(rows).toEqual([]);
    expect(await count()).toBeGreaterThan(0);
    const { owner } = story.gateway;
    await owner.anonymizeData({ scope: "messages" });
    await waitUntil(async () => (await count()) === 0);
  });
});
