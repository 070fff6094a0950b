import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { WaygateError } from "../../client/client.ts";

/** The network knows it only without the ninth digit. */
const LONG = "5511987650007";
const SHORT = "551187650007";
const ANA = "5511977771234";
/** A number of the maximum length without a country; the sandbox's own numbers are longer. */
const LID_DIGITS = "100011999990058";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
  const { sales } = story;
  await sales.client.sandboxReceive({ id: sales.id, from: ANA, text: "Hello" });
  await sales.client.sandboxReceive({ id: sales.id, from: SHORT, text: "Hello" });
  await waitUntil(async () => (await sales.client.listContacts({ id: sales.id })).data.length === 2);
  await giveLid();
});
afterAll(() => story.stop());

/** A number check in the sandbox restores Ana's LID. */
async function giveLid(): Promise<void> {
  const { db } = story.gateway.database;
  await db
    .updateTable("contact")
    .set({ lid: `${LID_DIGITS}@lid` })
    .where("phone", "=", ANA)
    .execute();
}

test("a presence is shown in the chat of the person, by the other format and by the digits of a LID", async () => {
  const { sales } = story;
  const show = async (number: string) =>
    (await sales.client.setPresence({ id: sales.id, number, presence: "typing" })).data.jid;
  expect([await show(LONG), await show(LID_DIGITS)]).toEqual([jidOf(SHORT), jidOf(ANA)]);
});

test("a group accepts members by the other number format and by the digits of a LID", async () => {
  const { sales } = story;
  const participants = [LONG, LID_DIGITS];
  const { data } = await sales.client.createGroup({ id: sales.id, name: "Team", participants });
  const done = { status: 200, success: true, error: null };
  expect(data.results).toEqual([
    { jid: jidOf(SHORT), ...done },
    { jid: jidOf(ANA), ...done },
  ]);
  const change = { id: sales.id, jid: data.jid, action: "promote", participants } as const;
  expect((await sales.client.updateGroupParticipants(change)).data.map(({ status }) => status)).toEqual([
    200, 200,
  ]);
});

test("a number check finds the person by the other format and by the digits of a LID", async () => {
  const { sales } = story;
  const { data } = await sales.client.checkContacts({ id: sales.id, numbers: [LONG, LID_DIGITS] });
  expect(data).toMatchObject([
    { query: LONG, exists: true, jid: jidOf(SHORT) },
    { query: LID_DIGITS, exists: true, jid: jidOf(ANA), phone: ANA },
  ]);
});

test.each([
  ["either number format", LONG, SHORT],
  ["the digits of a LID", LID_DIGITS, ANA],
])("lists of contacts and chats can be searched by %s", async (_, q, phone) => {
  const { id, client } = story.sales;
  await giveLid();
  for (const list of [client.listContacts, client.listChats])
    expect((await list({ id, q })).data.map(({ jid }) => jid)).toEqual([jidOf(phone)]);
});

test("a lead, a consent and an import with the digits of a LID belong to the person's phone", async () => {
  await giveLid();
  const { owner } = story.gateway;
  const { data: lead } = await owner.createLead({ phone: LID_DIGITS });
  expect(lead).toMatchObject({ phone: ANA, lid: null });
  await expect(owner.createLead({ phone: ANA })).rejects.toMatchObject({ code: "CONFLICT" });
  const consent = { purpose: "news", consent_type: "opt_in", granted: true };
  expect((await owner.recordConsent({ ...consent, phone: LID_DIGITS })).data.phone).toBe(ANA);
  const file = { bytes: Buffer.from(`phone,name\n${LID_DIGITS},Ana`), mime_type: "text/csv" };
  expect((await owner.importLeads({ file })).data).toMatchObject({ created: 0, updated: 1 });
});

test("digits that are no phone number and no known LID create no lead, no consent and no import row", async () => {
  const { owner } = story.gateway;
  const phone = "55119876500030";
  const refusal = {
    code: "VALIDATION_ERROR",
    details: { fields: [{ field: "phone", code: "impossible_number" }] },
  };
  await expect(owner.createLead({ phone, name: "Ana" })).rejects.toMatchObject(refusal);
  const consent = { purpose: "news", consent_type: "opt_in", granted: true };
  await expect(owner.recordConsent({ ...consent, phone })).rejects.toMatchObject(refusal);
  const { data: lead } = await owner.createLead({ name: "Bia" });
  await expect(owner.updateLead({ id: lead.id, phone })).rejects.toMatchObject(refusal);
  const file = { bytes: Buffer.from(`phone,name\n${phone},Ana\n5511988880003,Eva`), mime_type: "text/csv" };
  expect((await owner.importLeads({ file })).data).toMatchObject({
    created: 1,
    updated: 0,
    invalid: [{ line: 2, reason: expect.stringContaining("is not a number of any country") }],
  });
});

test("a lead with the digits of a LID without a phone is the same lead that messages create", async () => {
  const { sales, gateway } = story;
  const lid = "100011999990099@lid";
  await gateway.database.db
    .updateTable("contact")
    .set({ lid, phone: null, jid: lid })
    .where("phone", "=", SHORT)
    .execute();
  const { data } = await gateway.owner.createLead({ phone: "100011999990099", name: "Bia" });
  expect(data).toMatchObject({ phone: null, lid, name: "Bia" });
  await expect(gateway.owner.createLead({ phone: "100011999990099" })).rejects.toMatchObject({
    code: "CONFLICT",
  });
  const { data: other } = await gateway.owner.createLead({ name: "Caio" });
  await expect(gateway.owner.updateLead({ id: other.id, phone: "100011999990099" })).rejects.toMatchObject({
    message: "phone: is a LID whose phone number is not known; send the phone number",
  });
  expect((await sales.client.listContacts({ id: sales.id, q: "100011999990099" })).data).toHaveLength(1);
});

let personCount = 0;

/** A contact without messages. */
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
    await client().sandboxContact({ id: id(), from: bia.phone, name: "Beatriz\u202e Conceição of the shop" });
    await client().listContacts({ id: id(), synchronise: true });
    const find = async (q: string) => (await client().listContacts({ id: id(), q })).data;
    await waitUntil(async () => (await find("beatriz conceicao OF")).length === 1);
    expect(await find(bia.phone.slice(4))).toMatchObject([
      {
        ...bia,
        name: "Beatriz Conceição of the shop",
        push_name: "Bia",
        lid: expect.stringMatching(/@lid$/),
      },
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

  test("reports an error for each unreadable number, and looks up the others on the network", async () => {
    const known = newPerson().phone;
    const [group, email] = ["120363000000000001@g.us", "bia@example.org"];
    const numbers = [`${known}.0`, known, "21 98765-4321", group, email, "", null];
    const { data } = await client().checkContacts({ id: id(), numbers });
    expect(data.map(({ exists, code }) => [exists, code])).toEqual([
      [false, "changed_by_spreadsheet"],
      [true, undefined],
      [false, "no_country_code"],
      [false, "not_a_person"],
      [false, "not_a_jid"],
      [false, "missing"],
      [false, "missing"],
    ]);
    expect(data.map(({ reason }) => reason?.split(/[.,]/)[0])).toEqual([
      "was changed by a spreadsheet such as Excel",
      undefined,
      expect.stringContaining("has no country code"),
      "is a group",
      "must end in @s",
      "is empty",
      "is empty",
    ]);
    expect(data[2]?.params).toMatchObject({});
    for (const problem of ["reason", "code", "params"]) expect(data[1]).not.toHaveProperty(problem);
    await expect(client().checkContacts({ id: id(), number: `${known}.0` })).rejects.toMatchObject({
      details: { fields: [{ field: "number", code: "changed_by_spreadsheet" }] },
    });
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
    // The log remains, but the connection may return before the test reads it.
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

describe("a person in the phone's address book", () => {
  test("is added and renamed, by either number format, and is listed with that name", async () => {
    const { id: instance, client } = story.sales;
    const save = async (phone: string, first_name: string, last_name?: string) =>
      (await client.saveContact({ id: instance, phone, first_name, last_name })).data;
    const saved = { jid: jidOf(SHORT), lid: expect.any(String), phone: SHORT };
    expect(await save(LONG, "Ana", "Souza")).toEqual({ ...saved, name: "Ana Souza" });
    expect(await save(SHORT, "Aninha")).toEqual({ ...saved, name: "Aninha" });
    const { data } = await client.listContacts({ id: instance, q: SHORT });
    expect(data.map(({ name }) => name)).toEqual(["Aninha"]);
    expect(await refusal(save("5511977770000", "Nobody"))).toEqual([404, "RECIPIENT_NOT_FOUND"]);
    expect(await refusal(save(story.sales.phone, "Myself"))).toEqual([400, "VALIDATION_ERROR"]);
    expect(await refusal(save(ANA, " "))).toEqual([400, "VALIDATION_ERROR"]);
  });
});

describe("the presence of a person", () => {
  test("is an event while the instance follows it, which says until when it counts", async () => {
    const { id: instance, client } = story.sales;
    await client.updateDefaultWebhook({ id: instance, events: ["message.*", "presence.changed"] });
    const [bia, caio] = ["5511977770411", "5511977770412"];
    const { data } = await client.subscribePresence({ id: instance, number: bia });
    expect(data).toEqual({ jid: jidOf(bia), expires_at: expect.any(String) });
    await client.sandboxPresence({ id: instance, from: caio, presence: "typing" });
    await client.sandboxPresence({ id: instance, from: bia, push_name: "Bia", presence: "typing" });
    const last_seen_at = "2026-11-20T12:00:00.000Z";
    await client.sandboxPresence({ id: instance, from: bia, presence: "unavailable", last_seen_at });
    await story.receiver.waitFor(({ body }) => body.data?.presence === "unavailable");
    const shown = story.receiver.of("presence.changed").map(({ body }) => body.data);
    const person = { jid: jidOf(bia), lid: expect.any(String), phone: bia, push_name: "Bia" };
    const times = { at: expect.any(String), expires_at: expect.any(String) };
    expect(shown).toEqual([
      { jid: jidOf(bia), person, presence: "typing", last_seen_at: null, ...times },
      expect.objectContaining({ presence: "unavailable", last_seen_at, expires_at: data.expires_at }),
    ]);
    expect(shown[0].expires_at < data.expires_at).toBe(true);
  });

  test("of nobody, of the instance itself and of a foreign group cannot be followed", async () => {
    const { id: instance, client } = story.sales;
    const follow = (jid: string) => refusal(client.subscribePresence({ id: instance, jid }));
    expect(await follow("5511977770000")).toEqual([404, "RECIPIENT_NOT_FOUND"]);
    expect(await follow(story.sales.phone)).toEqual([400, "VALIDATION_ERROR"]);
    expect(await follow("120363999999999999@g.us")).toEqual([404, "NOT_FOUND"]);
  });
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

test("the digits of a known contact are whole where they could also be a number of the country", async () => {
  const [peruvian, brazilian] = ["51987654399", "5551987654399"];
  await client().updateInstance({ id: id(), default_country: "BR" });
  const send = () => client().sendText({ id: id(), number: peruvian, text: "Hello" });
  const isAmbiguous = () => refusal(send());
  expect(await isAmbiguous()).toEqual([400, "VALIDATION_ERROR"]);
  const known = async (phone: string) => {
    await client().sandboxReceive({ id: id(), from: phone, text: "Hi" });
    await waitUntil(async () => (await client().listContacts({ id: id(), q: phone })).data.length > 0);
  };
  await known(peruvian);
  expect((await send()).data).toMatchObject({ jid: jidOf(peruvian) });
  const { data } = await client().checkContacts({ id: id(), numbers: [peruvian] });
  expect(JSON.stringify(data)).toContain(jidOf(peruvian));
  await known(`+${brazilian}`);
  expect(await isAmbiguous()).toEqual([400, "VALIDATION_ERROR"]);
  await client().updateInstance({ id: id(), default_country: null });
});
