import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import type { Jid } from "../../network/driver.ts";
import { lidJid, phoneJid } from "../../network/jid.ts";
import { type Conversations, createConversations } from "./conversations.ts";
import { mergeAddresses } from "./merge-addresses.ts";
import { moveLeftoverMessages } from "./move-messages.ts";

let store: TestDatabase;
/** Two nodes, each with its own cache. */
let here: Conversations;
let there: Conversations;

beforeAll(async () => {
  store = await createTestDatabase();
  here = createConversations(store.database.db);
  there = createConversations(store.database.db);
});

afterAll(() => store.drop());

const db = () => store.database.db;
const ACCOUNT = 1;
let instances = 0;

/** A new contact on its own instance. */
function newPerson() {
  instances += 1;
  const phone = `55219${10_000_000 + instances}`;
  return { instance: instances, phone, jid: phoneJid(phone), lid: lidJid(`9000000000${1000 + instances}`) };
}

type Person = ReturnType<typeof newPerson>;

const chatOf = (person: Person, details: { jid: Jid; phone?: string; lid?: Jid; push_name?: string }) => ({
  account_id: ACCOUNT,
  instance_id: person.instance,
  type: "contact" as const,
  phone: null,
  lid: null,
  push_name: null,
  ...details,
});

const byLid = (person: Person, push_name?: string) =>
  chatOf(person, { jid: person.lid, lid: person.lid, push_name });
const byPhone = (person: Person, push_name?: string) =>
  chatOf(person, { jid: person.jid, phone: person.phone, push_name });
const byBoth = (person: Person) => chatOf(person, { jid: person.jid, phone: person.phone, lid: person.lid });

const update = (person: Person, name: string | null = null) => ({
  jid: person.jid,
  lid: person.lid,
  phone: person.phone,
  name,
  push_name: null,
  verified_name: null,
});

let messages = 0;

async function writeMessage(
  { instance, lid, jid }: Person,
  chat: { id: number; jid: string },
  more: Record<string, unknown> = {},
): Promise<string> {
  messages += 1;
  const message_id = `3EB0${messages}`;
  await db()
    .insertInto("message")
    .values({
      account_id: ACCOUNT,
      instance_id: instance,
      conversation_id: chat.id,
      message_id,
      jid: chat.jid,
      direction: "inbound",
      from_me: false,
      origin: "contact",
      type: "text",
      status: "received",
      sender: JSON.stringify({ jid: chat.jid === jid ? jid : lid, lid, phone: null, push_name: "Bia" }),
      content: JSON.stringify({ kind: "text", text: message_id }),
      ...more,
    })
    .execute();
  return message_id;
}

const contactsOf = ({ instance }: Person) =>
  db()
    .selectFrom("contact")
    .select(["jid", "lid", "phone", "name", "push_name"])
    .where("instance_id", "=", instance)
    .orderBy("jid")
    .execute();

const chatsOf = ({ instance }: Person) =>
  db()
    .selectFrom("conversation")
    .select(["id", "jid", "phone"])
    .where("instance_id", "=", instance)
    .where("merged_into", "is", null)
    .orderBy("jid")
    .execute();

const messagesOf = ({ instance }: Person) =>
  db()
    .selectFrom("message")
    .select(["conversation_id", "jid", "message_id", "sender", "type", "status", "mode"])
    .where("instance_id", "=", instance)
    .orderBy("id")
    .execute();

describe("a LID without a known phone", () => {
  test("is shown as a contact without a phone, never with the digits of the LID", async () => {
    const bia = newPerson();
    const chat = await here.getOrCreate(byLid(bia, "Bia"));
    expect(chat.jid).toBe(bia.lid);
    expect(await contactsOf(bia)).toEqual([
      { jid: bia.lid, lid: bia.lid, phone: null, name: null, push_name: "Bia" },
    ]);
    expect(
      await here.identify(bia.instance, { jid: bia.lid, lid: null, phone: null, push_name: null }),
    ).toEqual({ jid: bia.lid, lid: bia.lid, phone: null, push_name: null });
  });

  test("becomes the contact of the phone once the phone is known, and keeps its messages", async () => {
    const bia = newPerson();
    const before = await here.getOrCreate(byLid(bia, "Bia"));
    const id = await writeMessage(bia, before);
    await here.updateContact({ id: bia.instance, account_id: ACCOUNT }, update(bia, "Bia of the shop"));
    expect(await contactsOf(bia)).toEqual([
      { jid: bia.jid, lid: bia.lid, phone: bia.phone, name: "Bia of the shop", push_name: "Bia" },
    ]);
    const [chat] = await chatsOf(bia);
    expect(chat).toMatchObject({ jid: bia.jid, phone: bia.phone });
    expect(await messagesOf(bia)).toMatchObject([
      {
        conversation_id: chat?.id,
        jid: bia.jid,
        message_id: id,
        sender: { jid: bia.jid, lid: bia.lid, phone: bia.phone },
      },
    ]);
    for (const node of [here, there]) {
      expect(await node.getOrCreate(byLid(bia))).toMatchObject({ id: chat?.id, jid: bia.jid });
      expect(await node.getOrCreate(byPhone(bia))).toMatchObject({ id: chat?.id, jid: bia.jid });
      expect(await node.addressOf(bia.instance, bia.lid)).toBe(bia.jid);
    }
  });

  test("has its messages merged with the messages of the phone", async () => {
    const bia = newPerson();
    const [lidChat, phoneChat] = [
      await here.getOrCreate(byLid(bia)),
      await here.getOrCreate(byPhone(bia, "Bia")),
    ];
    expect(lidChat.id).not.toBe(phoneChat.id);
    const ids = [await writeMessage(bia, lidChat), await writeMessage(bia, phoneChat)];
    expect(await here.getOrCreate(byBoth(bia))).toMatchObject({ id: phoneChat.id, jid: bia.jid });
    const rows = await messagesOf(bia);
    expect(rows.map((row) => row.message_id)).toEqual(ids);
    expect(new Set(rows.map((row) => `${row.conversation_id} ${row.jid}`))).toEqual(
      new Set([`${phoneChat.id} ${bia.jid}`]),
    );
    expect(await contactsOf(bia)).toHaveLength(1);
  });
});

describe("a message that is stored in both conversations", () => {
  const TWICE = "3EB0TWICE";

  async function merged(inLid: Record<string, unknown>, inPhone: Record<string, unknown>) {
    const bia = newPerson();
    await writeMessage(bia, await here.getOrCreate(byLid(bia)), { message_id: TWICE, ...inLid });
    await writeMessage(bia, await here.getOrCreate(byPhone(bia)), { message_id: TWICE, ...inPhone });
    await here.getOrCreate(byBoth(bia));
    return messagesOf(bia);
  }

  test("becomes one row after the merge", async () => {
    expect(await merged({}, {})).toMatchObject([{ message_id: TWICE, type: "text" }]);
  });

  test("keeps the row that the gateway sent, with the data of its echo", async () => {
    const ours = { direction: "outbound", from_me: true, outcome_at: new Date(), status: "sent" } as const;
    const rows = await merged(
      { ...ours, mode: "async", origin: "api" },
      { ...ours, origin: "phone", status: "read" },
    );
    expect(rows).toMatchObject([{ mode: "async", status: "read" }]);
  });

  test("keeps the row that can be read", async () => {
    expect(await merged({}, { type: "unsupported" })).toMatchObject([{ type: "text" }]);
    expect(await merged({ type: "unsupported" }, {})).toMatchObject([{ type: "text" }]);
  });
});

describe("concurrent writers on two nodes", () => {
  test("end with one contact and one conversation, in either order", async () => {
    const people = Array.from({ length: 8 }, newPerson);
    const tellings = (person: Person, node: Conversations) => [
      node.getOrCreate(byLid(person)),
      node.getOrCreate(byPhone(person, "Bia")),
      node.getOrCreate(byBoth(person)),
      node.updateContact({ id: person.instance, account_id: ACCOUNT }, update(person)),
    ];
    await Promise.all(people.flatMap((person) => [here, there].flatMap((node) => tellings(person, node))));
    for (const person of people) {
      expect(await contactsOf(person)).toMatchObject([
        { jid: person.jid, lid: person.lid, phone: person.phone },
      ]);
      expect(await chatsOf(person)).toMatchObject([{ jid: person.jid }]);
    }
  });

  test("find the LID with its phone as soon as the two contacts are merged", async () => {
    const bia = newPerson();
    await here.getOrCreate(byLid(bia));
    await here.getOrCreate(byPhone(bia));
    await mergeAddresses(db(), { account_id: ACCOUNT, instance_id: bia.instance, ...bia });
    expect(await contactsOf(bia)).toMatchObject([{ jid: bia.jid, lid: bia.lid, phone: bia.phone }]);
  });

  test("lose no message: a message in a merged conversation is moved later", async () => {
    const bia = newPerson();
    const stale = await there.getOrCreate(byLid(bia));
    await here.getOrCreate(byBoth(bia));
    const id = await writeMessage(bia, stale);
    await moveLeftoverMessages(db());
    const [chat] = await chatsOf(bia);
    expect(await messagesOf(bia)).toMatchObject([
      { conversation_id: chat?.id, jid: bia.jid, message_id: id },
    ]);
  });

  test("leave no merged conversation behind an hour after the merge", async () => {
    const bia = newPerson();
    await here.getOrCreate(byLid(bia));
    await here.getOrCreate(byBoth(bia));
    await db()
      .updateTable("conversation")
      .set({ merged_at: new Date(Date.now() - 3_600_000) })
      .where("merged_at", "is not", null)
      .execute();
    await moveLeftoverMessages(db());
    const open = await db()
      .selectFrom("conversation")
      .select("id")
      .where("merged_at", "is not", null)
      .execute();
    expect(open).toEqual([]);
  });
});

test("a person who changes the number keeps the LID, and the old chat stays as it is", async () => {
  const bia = newPerson();
  await here.getOrCreate(byBoth(bia));
  const moved = { ...bia, phone: "5521977770001", jid: phoneJid("5521977770001") };
  await here.getOrCreate(byBoth(moved));
  expect(await contactsOf(bia)).toMatchObject([
    { jid: bia.jid, lid: null },
    { jid: moved.jid, lid: bia.lid },
  ]);
  expect(await chatsOf(bia)).toHaveLength(2);
  expect(await there.getOrCreate(byLid(bia))).toMatchObject({ jid: moved.jid });
});

test("a report under an address that changes meanwhile is recorded under both addresses", async () => {
  const bia = newPerson();
  await here.getOrCreate(byLid(bia));
  const seen: string[] = [];
  await here.withCurrentAddress(bia.instance, bia.lid, async (address) => {
    seen.push(address);
    if (seen.length === 1) await there.getOrCreate(byBoth(bia));
  });
  expect(seen).toEqual([bia.lid, bia.jid]);
});

test("an address book creates contacts but no conversations", async () => {
  const bia = newPerson();
  await here.updateContact({ id: bia.instance, account_id: ACCOUNT }, update(bia, "Bia\u0000 of the shop"));
  expect(await contactsOf(bia)).toMatchObject([{ name: "Bia of the shop", phone: bia.phone }]);
  expect(await chatsOf(bia)).toEqual([]);
});
