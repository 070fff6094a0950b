import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";

/** The two formats of one Brazilian number; the sandbox knows only the one without the ninth digit. */
const LONG = "5511987650007";
const SHORT = "551187650007";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

async function receive(from: string): Promise<string> {
  const { client, id } = story.sales;
  const { data } = await client.sandboxReceive({ id, from, text: "Helo", push_name: "Ana" });
  await story.event("message.received", data.message_id);
  return data.message_id;
}

async function readMessage(messageId: string) {
  return (await story.sales.client.getMessage({ id: story.sales.id, messageId })).data;
}

const chatsOf = async (digits: string) => {
  const { data } = await story.sales.client.listChats({ id: story.sales.id, q: digits });
  return data;
};

describe("a message stored under one format of its number", () => {
  test("can be edited, reacted to and deleted under the other format", async () => {
    const { client, id } = story.sales;
    const message_id = await receive(SHORT);
    await client.sandboxEdit({ id, from: LONG, message_id, text: "Hello" });
    const edited = await story.event("message.edited", message_id);
    expect(edited.data).toMatchObject({ jid: jidOf(SHORT), message: { text: "Hello" } });
    await client.sandboxReact({ id, from: LONG, message_id, reaction: "👍" });
    const reaction = await story.event("message.reaction", message_id);
    expect(reaction.data).toMatchObject({ jid: jidOf(SHORT), message: { message_id } });
    await client.sandboxDelete({ id, from: LONG, message_id });
    await story.event("message.deleted", message_id);
    expect(await readMessage(message_id)).toMatchObject({
      text: "Hello",
      edited_at: expect.any(String),
      deleted_at: expect.any(String),
    });
  });

  test("is marked as read by the paired phone's receipt under the other format", async () => {
    const { client, id } = story.sales;
    const message_id = await receive(SHORT);
    await client.sandboxRead({ id, from: LONG, message_ids: [message_id], from_me: true });
    const { data } = await story.event("message.read", message_id);
    expect(data).toMatchObject({ jid: jidOf(SHORT), direction: "inbound" });
  });

  test("is listed, and its chat is pinned, if a request names the other format", async () => {
    const { client, id } = story.sales;
    const stored = "5521987650007";
    const named = "552187650007";
    const message_id = await receive(stored);
    const { data } = await client.listChatMessages({ id, jid: jidOf(named) });
    expect(data).toMatchObject([{ message_id }]);
    const pinned = await client.setChatState({ id, number: named, action: "pin" });
    expect(pinned.data).toMatchObject({ phone: stored, pinned: true });
    expect(await chatsOf(stored)).toHaveLength(1);
  });

  test("keeps its one chat if the phone changes the chat under the other format", async () => {
    const { client, id } = story.sales;
    const stored = "553187650007";
    await receive(stored);
    await client.sandboxChat({ id, from: "5531987650007", archived: true });
    await waitUntil(async () => (await chatsOf(stored)).some(({ archived }) => archived));
    expect(await chatsOf(stored)).toMatchObject([{ phone: stored, archived: true }]);
  });
});

test("an edit that is the first to link LID and phone changes the message stored under the LID", async () => {
  const { client, id } = story.sales;
  const hidden = "5511977775555";
  await client.sandboxContact({ id, from: hidden, known: "lid" });
  const message_id = await receive(hidden);
  expect((await readMessage(message_id)).jid).toMatch(/@lid$/);
  // The control route would also notify the instance.
  await sql`update sandbox.address_book set known = 'both' where phone = ${hidden}`.execute(
    story.gateway.database.db,
  );
  await client.sandboxEdit({ id, from: hidden, message_id, text: "Hello" });
  const { data } = await story.event("message.edited", message_id);
  expect(data.message).toMatchObject({ text: "Hello", jid: jidOf(hidden) });
  expect(await chatsOf(hidden)).toMatchObject([{ phone: hidden }]);
});
