import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { WaygateError } from "../../client/client.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});

afterAll(() => story.stop());

let personCount = 0;

/** A contact that has never written. */
function newPerson() {
  personCount += 1;
  const phone = `5521${10_001_000 + personCount}`;
  return { phone, jid: `${phone}@s.whatsapp.net` };
}

const client = () => story.sales.client;
const id = () => story.sales.id;

async function receive(from: string, text = "Hello") {
  const { data } = await client().sandboxReceive({ id: id(), from, text, push_name: "Bia" });
  return (await story.event("message.received", data.message_id)).data;
}

const refusal = (request: Promise<unknown>) =>
  request.then(
    () => undefined,
    (error: unknown) => (error instanceof WaygateError ? [error.status, error.code] : error),
  );

const asked = async (action: string) => (await story.ledger({ action })).length;

describe("the list of contacts", () => {
  test("shows senders, and names from the phone's address book once it is synchronised", async () => {
    const bia = newPerson();
    await receive(bia.phone);
    await client().sandboxContact({ id: id(), from: bia.phone, name: "Beatriz of the shop" });
    await client().listContacts({ id: id(), synchronise: true });
    const find = async (q: string) => (await client().listContacts({ id: id(), q })).data;
    await waitUntil(async () => (await find("beatriz OF")).length === 1);
    expect(await find(bia.phone.slice(4))).toMatchObject([
      { ...bia, name: "Beatriz of the shop", push_name: "Bia", lid: expect.stringMatching(/@lid$/) },
    ]);
    const [{ id: contactId, lid = "" } = {}] = await find(bia.phone);
    for (const q of [`00${bia.phone}`, `${bia.phone}@s.whatsapp.net`, lid ?? ""])
      expect(await find(q)).toMatchObject([{ id: contactId }]);
    expect(await find("100%")).toEqual([]);
  });

  test("has stable pages while contacts are added", async () => {
    for (let n = 0; n < 3; n++) await receive(newPerson().phone);
    const first = await client().listContacts({ id: id(), limit: 2 });
    await receive(newPerson().phone);
    const second = await client().listContacts({
      id: id(),
      limit: 2,
      cursor: first.pagination.next_cursor ?? "",
    });
    const ids = [...first.data, ...second.data].map((contact) => contact.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    expect(first.pagination).toMatchObject({ limit: 2, has_more: true });
  });
});

describe("a contact whose phone the network hides", () => {
  test("is shown by LID without a phone, and becomes one contact and one chat when the phone is known", async () => {
    const bia = newPerson();
    await client().sandboxContact({ id: id(), from: bia.phone, known: "lid" });
    const hidden = await receive(bia.phone, "who am I");
    const lid = hidden.message.lid;
    expect(hidden.message).toMatchObject({ jid: lid, lid: expect.stringMatching(/@lid$/), phone: null });
    expect(hidden.message.sender).toMatchObject({ jid: lid, lid, phone: null });
    expect(hidden.conversation).toMatchObject({ jid: lid, phone: null });
    const { data: sent } = await client().sendText({ id: id(), jid: lid, text: "to the LID" });
    expect(sent?.jid).toBe(lid);

    await client().sandboxContact({ id: id(), from: bia.phone, known: "both" });
    const chatOf = async () => (await client().listChats({ id: id(), q: bia.phone })).data;
    await waitUntil(async () => (await chatOf()).length === 1);
    await client().sendText({ id: id(), jid: lid, text: "to the LID again" });
    await client().sendText({ id: id(), number: bia.phone, text: "to the phone" });
    const known = await receive(bia.phone, "me");
    expect(known.message).toMatchObject({ ...bia, lid });
    expect(known.conversation).toMatchObject(bia);

    const inChat = async () => (await client().listChatMessages({ id: id(), jid: lid })).data;
    await waitUntil(async () => (await inChat()).length === 5);
    const messages = await inChat();
    expect(messages.map((message) => message.text)).toEqual([
      "me",
      "to the phone",
      "to the LID again",
      "to the LID",
      "who am I",
    ]);
    for (const message of messages) expect(message).toMatchObject({ ...bia, lid });
    expect(new Set(messages.map((message) => message.conversation_id))).toEqual(
      new Set([known.conversation.id]),
    );
    expect(messages.at(-1)?.sender).toMatchObject({ ...bia, lid });
    expect((await client().listContacts({ id: id(), q: bia.phone })).data).toHaveLength(1);
  });
});

describe("the check of numbers", () => {
  test("returns one row per query, in order, and reports an invalid number as not existing", async () => {
    const numbers = ["+55 (21) 3333-4444", "552130000000", "12", "not a number", "552133334444@c.us"];
    const { data } = await client().checkContacts({ id: id(), numbers });
    expect(data.map(({ query, exists, jid }) => [query, exists, jid])).toEqual([
      [numbers[0], true, "552133334444@s.whatsapp.net"],
      [numbers[1], false, null],
      [numbers[2], false, null],
      [numbers[3], false, null],
      [numbers[4], true, "552133334444@s.whatsapp.net"],
    ]);
    expect(data[0]).toMatchObject({ is_in_whatsapp: true, phone: "552133334444", verified_name: null });
    expect(data[0]?.lid).toMatch(/@lid$/);
  });

  test("returns the result of a single number at the top level, and asks the network once", async () => {
    const { phone } = newPerson();
    const { exists, data } = await client().checkContacts({ id: id(), number: phone });
    expect([exists, data[0]?.exists]).toEqual([true, true]);
    const before = await asked("check");
    const again = await client().checkContacts({ id: id(), number: phone });
    expect(again.data).toEqual(data.map((row) => ({ ...row, checked_at: expect.any(String) })));
    expect(await asked("check")).toBe(before);
    await client().checkContacts({ id: id(), number: phone, refresh: true });
    expect(await asked("check")).toBe(before + 1);
  });

  test("finds a Brazilian number in the format that the network knows", async () => {
    const { data } = await client().checkContacts({ id: id(), numbers: ["5531987650007", "553187650007"] });
    expect(data.map(({ jid }) => jid)).toEqual(Array(2).fill("553187650007@s.whatsapp.net"));
  });

  test("never reports a LID as not existing", async () => {
    const bia = newPerson();
    const { message } = await receive(bia.phone);
    const { data } = await client().checkContacts({
      id: id(),
      numbers: [message.lid, "123456789012345@lid"],
    });
    expect(data).toMatchObject([
      { exists: true, ...bia },
      { exists: true, jid: "123456789012345@lid", phone: null },
    ]);
  });

  test.each([
    ["a single text that is no number", { number: "abc" }],
    ["a group", { number: "120363000000000001@g.us" }],
  ])("rejects %s", async (_, input) => {
    expect(await refusal(client().checkContacts({ id: id(), ...input }))).toEqual([400, "VALIDATION_ERROR"]);
  });
});

describe("a number with two formats", () => {
  test("is sent to in the format that the network knows, which is requested once", async () => {
    const before = await asked("check");
    const { data } = await client().sendText({ id: id(), number: "5521987650007", text: "one" });
    expect(data?.jid).toBe("552187650007@s.whatsapp.net");
    await client().sendText({ id: id(), number: "5521987650007", text: "two" });
    await client().sendText({ id: id(), number: "552187650007", text: "three" });
    expect(await asked("check")).toBe(before + 1);
    await receive("552187650007", "four");
    const { data: messages } = await client().listChatMessages({ id: id(), jid: "5521987650007" });
    expect(messages.map((message) => message.text)).toEqual(["four", "three", "two", "one"]);
  });

  test("is sent to in the given format if the network knows both", async () => {
    const { data } = await client().sendText({ id: id(), number: "5521987651111", text: "one" });
    expect(data?.jid).toBe("5521987651111@s.whatsapp.net");
  });

  test("that is accepted while the network is unavailable is corrected when it is sent", async () => {
    await client().sandboxDrop({ id: id() });
    // The log remains, whereas the connection may be back before the test reads it.
    const { pool } = story.gateway.database;
    const lost = "select from connection_log where instance_id = $1 and status = 'reconnecting'";
    await waitUntil(async () => (await pool.query(lost, [id()])).rowCount);
    const { data } = await client().sendText({
      id: id(),
      number: "5541987650007",
      text: "held",
      async: true,
    });
    const { data: sent } = await story.outcome(data.pendingMessageId ?? "");
    expect(sent.message).toMatchObject({
      jid: "554187650007@s.whatsapp.net",
      phone: "554187650007",
      status: "sent",
    });
    const { data: shown } = await client().getMessage({ id: id(), messageId: data.pendingMessageId ?? "" });
    expect(shown.jid).toBe("554187650007@s.whatsapp.net");
    const { data: chats } = await client().listChats({ id: id(), q: "87650007" });
    expect(chats.filter(({ jid }) => jid.startsWith("5541")).map(({ jid }) => jid)).toEqual([shown.jid]);
  });
});

describe("the details of a contact", () => {
  test("are read from the network and stored", async () => {
    const bia = newPerson();
    await client().sandboxContact({
      id: id(),
      from: bia.phone,
      about: "At the beach",
      push_name: "Bia",
      verified_name: "Bia Ltda",
      business: { description: "Bikinis" },
    });
    const { data } = await client().contactInfo({ id: id(), number: bia.phone });
    expect(data).toMatchObject({
      ...bia,
      about: "At the beach",
      status: "At the beach",
      push_name: "Bia",
      verified_name: "Bia Ltda",
      is_business: true,
      business: { description: "Bikinis" },
      is_blocked: false,
    });
    expect((await client().listContacts({ id: id(), q: bia.phone })).data).toMatchObject([
      { is_business: true, verified_name: "Bia Ltda" },
    ]);
  });
});

test("a send to an unknown number leaves no contact and no chat behind", async () => {
  const number = "5531900010000";
  expect(await refusal(client().sendText({ id: id(), number, text: "Anybody?" }))).toEqual([
    404,
    "RECIPIENT_NOT_FOUND",
  ]);
  expect((await client().listContacts({ id: id(), q: number })).data).toEqual([]);
  expect((await client().listChats({ id: id(), q: number })).data).toEqual([]);
});

describe("blocking a contact", () => {
  test("is rejected for the instance's own number", async () => {
    const own = { id: id(), number: story.sales.phone };
    expect(await refusal(client().blockContact({ ...own, action: "block" }))).toEqual([
      400,
      "VALIDATION_ERROR",
    ]);
    expect((await client().contactInfo(own)).data.is_blocked).toBe(false);
  });
});
