import { afterAll, beforeAll, expect, test } from "vitest";
import { type MessagingStory, startMessagingStory, waitUntil } from "../../../test/messaging-story.ts";

/** Known to the network without the ninth digit only. */
const LONG = "5511987650007";
const SHORT = "551187650007";
const ANA = "5511977771234";
/** As long as a number may be, and no country's phone; the sandbox's own are longer. */
const LID_DIGITS = "100011999990058";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
  const { sales } = story;
  await sales.client.sandboxReceive({ id: sales.id, from: ANA, text: "Hello" });
  await sales.client.sandboxReceive({ id: sales.id, from: SHORT, text: "Hello" });
  await waitUntil(async () => (await sales.client.listContacts({ id: sales.id })).data.length === 2);
  await story.gateway.database.db
    .updateTable("contact")
    .set({ lid: `${LID_DIGITS}@lid` })
    .where("phone", "=", ANA)
    .execute();
});
afterAll(() => story.stop());

test("a presence is shown in the chat of the person, by the other spelling and by the digits of a LID", async () => {
  const { sales } = story;
  const show = async (number: string) =>
    (await sales.client.setPresence({ id: sales.id, number, presence: "typing" })).data.jid;
  expect([await show(LONG), await show(LID_DIGITS)]).toEqual([jidOf(SHORT), jidOf(ANA)]);
});

test("a group takes members by the other spelling and by the digits of a LID", async () => {
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

test("a check of numbers finds the person by the other spelling and by the digits of a LID", async () => {
  const { sales } = story;
  const { data } = await sales.client.checkContacts({ id: sales.id, numbers: [LONG, LID_DIGITS] });
  expect(data).toMatchObject([
    { query: LONG, exists: true, jid: jidOf(SHORT) },
    { query: LID_DIGITS, exists: true, jid: jidOf(ANA), phone: ANA },
  ]);
});

test("lists of contacts and chats are searched by either spelling", async () => {
  const { sales } = story;
  const { data: contacts } = await sales.client.listContacts({ id: sales.id, q: LONG });
  const { data: chats } = await sales.client.listChats({ id: sales.id, q: `+${LONG}` });
  expect([contacts.map(({ jid }) => jid), chats.map(({ jid }) => jid)]).toEqual([
    [jidOf(SHORT)],
    [jidOf(SHORT)],
  ]);
});
