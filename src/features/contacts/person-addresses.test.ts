import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";

/** The network knows it only without the ninth digit. */
const LONG = "5511987650007";
const SHORT = "551187650007";
const ANA = "5511977771234";
/** A number of the maximum length that belongs to no country; the sandbox's own numbers are longer. */
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

/** A number check with the sandbox restores Ana's LID there. */
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

test("lists of contacts and chats can be searched by either number format", async () => {
  const { sales } = story;
  const { data: contacts } = await sales.client.listContacts({ id: sales.id, q: LONG });
  const { data: chats } = await sales.client.listChats({ id: sales.id, q: `+${LONG}` });
  expect([contacts.map(({ jid }) => jid), chats.map(({ jid }) => jid)]).toEqual([
    [jidOf(SHORT)],
    [jidOf(SHORT)],
  ]);
});

test("lists of contacts and chats can be searched by the digits of a LID", async () => {
  const { sales } = story;
  await giveLid();
  const { data: contacts } = await sales.client.listContacts({ id: sales.id, q: LID_DIGITS });
  const { data: chats } = await sales.client.listChats({ id: sales.id, q: LID_DIGITS });
  expect([contacts.map(({ jid }) => jid), chats.map(({ jid }) => jid)]).toEqual([[jidOf(ANA)], [jidOf(ANA)]]);
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
