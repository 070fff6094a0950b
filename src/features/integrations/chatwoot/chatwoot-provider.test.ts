import { describe, expect, test } from "vitest";
import { setUpChatwootStory } from "../../../../test/chatwoot-story.ts";
import { waitUntil } from "../../../../test/gateway.ts";
import { SAMPLE } from "../../../../test/sample-files.ts";

const story = setUpChatwootStory();
const { chatwoot, receive, save } = story;
const BIA = "5521977770011";
const BIA_JID = `${BIA}@s.whatsapp.net`;

/** Saves the integration and lets Bia's first message reach the inbox. */
async function open(fields: Record<string, unknown> = {}) {
  await save(fields);
  const id = await receive({ from: BIA, push_name: "Bia", text: "Hello" });
  const conversation = await story.conversation(BIA);
  await story.quiet();
  const [first] = chatwoot.of(conversation.id);
  if (!first) throw new Error("nothing arrived");
  return { conversation, first, id };
}

const contents = (conversation: { id: number }) => chatwoot.of(conversation.id).map(({ content }) => content);

describe("messages from WhatsApp to the inbox", () => {
  test("a text becomes one message in a conversation with its contact", async () => {
    await save();
    const id = await receive({ from: BIA, push_name: "Bia", text: "Hello *you*" });
    const conversation = await story.conversation(BIA);
    await story.quiet();
    expect(chatwoot.of(conversation.id)).toMatchObject([
      { content: "Hello **you**", message_type: "incoming", source_id: `WAID:${story.shop.id}:${id}` },
    ]);
    expect(chatwoot.contacts).toMatchObject([{ name: "Bia", phone_number: `+${BIA}`, identifier: BIA_JID }]);
  });

  test("two quick messages keep their order in one conversation", async () => {
    await save();
    for (const text of ["one", "two", "three"]) await receive({ from: BIA, text });
    const conversation = await story.conversation(BIA);
    await waitUntil(() => chatwoot.of(conversation.id).length === 3);
    await story.quiet();
    expect(contents(conversation)).toEqual(["one", "two", "three"]);
    expect([chatwoot.contacts.length, chatwoot.conversations.length]).toEqual([1, 1]);
  });

  test("the gateway finds a posted message whose response was lost, and does not post it again", async () => {
    await save();
    chatwoot.faults.loseAnswers = 1;
    await receive({ from: BIA, text: "once" });
    const conversation = await story.conversation(BIA);
    await waitUntil(async () => {
      await story.gateway.advance(30_000);
      return chatwoot.calls.some((call) => call.startsWith("GET") && call.endsWith("/messages"));
    });
    await receive({ from: BIA, text: "next" });
    await waitUntil(() => chatwoot.of(conversation.id).length >= 2);
    await story.quiet();
    expect(contents(conversation)).toEqual(["once", "next"]);
  });

  test("a message that is reported twice is posted once", async () => {
    const { conversation } = await open();
    const again = `insert into job (lane, prio, pos, grp, ref)
      select g.lane, 1, e.sequence, e.chat,
        jsonb_build_object('do', 'event', 'integration', g.id, 'event_id', e.event_id, 'at', e.created_at)
      from event e join integration g on g.instance_id = e.instance_id
      where e.instance_id = $1 and e.event = 'message.received'`;
    await story.gateway.database.pool.query(again, [story.shop.id]);
    await receive({ from: BIA, text: "next" });
    await story.waitForMessage(({ content }) => content === "next");
    await story.quiet();
    expect(contents(conversation)).toEqual(["Hello", "next"]);
  });

  test("messages wait when a conversation exceeds its rate limit or Chatwoot is overloaded", async () => {
    const { conversation } = await open();
    for (const [limit, status] of [
      [1, null],
      [200, 429],
    ] as const) {
      chatwoot.messagesPerMinute = limit;
      chatwoot.faults.status = status;
      const before = chatwoot.calls.length;
      await receive({ from: BIA, text: `limit ${limit}` });
      await waitUntil(() => chatwoot.calls.length > before);
      Object.assign(chatwoot, { messagesPerMinute: 200 });
      chatwoot.faults.status = null;
      await waitUntil(async () => {
        await story.gateway.advance(60_000);
        return contents(conversation).includes(`limit ${limit}`);
      });
    }
    await story.quiet();
    expect(contents(conversation)).toEqual(["Hello", "limit 1", "limit 200"]);
  });

  test("files keep captions, voice notes their kind, locations a map link, cards a number", async () => {
    await save();
    const media = { base64: SAMPLE.jpeg.toString("base64"), type: "image" as const, caption: "*look*" };
    await receive({ from: BIA, media });
    await receive({ from: BIA, location: { latitude: -22.9, longitude: -43.2, name: "Office" } });
    await receive({ from: BIA, contact: { name: "Rui", phone: "5521977770099" } });
    const conversation = await story.conversation(BIA);
    await waitUntil(() => chatwoot.of(conversation.id).length === 3);
    const [picture, place, card] = chatwoot.of(conversation.id);
    expect(picture).toMatchObject({
      content: "**look**",
      attachments: [{ content_type: "image/jpeg", file_type: "image", bytes: SAMPLE.jpeg }],
    });
    expect(place?.content).toBe("📍\nOffice\nhttps://maps.google.com/?q=-22.9,-43.2");
    expect(card?.content).toBe("👤 Rui\n+5521977770099");
  });

  test("replies, edits, reactions and deletions refer to the right message", async () => {
    const { conversation, first, id } = await open();
    await receive({ from: BIA, text: "answer", reply_to: id });
    const { client, id: shop } = story.shop;
    await client.sandboxEdit({ id: shop, from: BIA, message_id: id, text: "Hello, *all*" });
    await client.sandboxReact({ id: shop, from: BIA, message_id: id, reaction: "👍" });
    await waitUntil(() => chatwoot.of(conversation.id).length === 4);
    await client.sandboxDelete({ id: shop, from: BIA, message_id: id });
    await waitUntil(() => first.content_attributes.deleted === true);
    await story.quiet();
    expect(chatwoot.of(conversation.id).slice(1)).toMatchObject([
      { content: "answer", content_attributes: { in_reply_to: first.id } },
      { content: "✏️ Hello, **all**", content_attributes: { in_reply_to: first.id } },
      { content: "👍", content_attributes: { in_reply_to: first.id } },
    ]);
    expect(await story.sent()).toEqual([]);
  });

  test.each([
    ["message", { message_type: "outgoing", private: false, content_attributes: { external_echo: true } }],
    ["private_note", { message_type: "outgoing", private: true }],
    ["off", undefined],
  ])("a message sent from the phone follows `sent_from_phone`: %s", async (sent_from_phone, wanted) => {
    const { conversation } = await open({ sent_from_phone });
    await receive({ from: BIA, from_me: true, text: "from the phone" });
    await receive({ from: BIA, text: "after" });
    await story.waitForMessage(({ content }) => content === "after");
    await story.quiet();
    const shown = chatwoot.of(conversation.id).filter(({ content }) => content === "from the phone");
    expect(shown).toMatchObject(wanted ? [wanted] : []);
    expect(await story.sent()).toEqual([]);
  });

  test("groups are ignored by default; an included group is one contact and names each sender", async () => {
    const group_jid = "120363041234567890";
    await save();
    await receive({ from: BIA, group_jid, push_name: "Bia", text: "in the group" });
    await receive({ from: BIA, text: "alone" });
    await story.waitForMessage(({ content }) => content === "alone");
    await story.quiet();
    await save({ groups: true });
    await receive({ from: BIA, group_jid, push_name: "Bia", text: "again" });
    const shown = await story.waitForMessage(({ content }) => content?.includes("again") ?? false);
    expect(shown.content).toMatch(new RegExp(`^\\*\\*\\+${BIA} – Bia:\\*\\*\\nagain$`));
    const contact = chatwoot.contacts.find(({ identifier }) => identifier === `${group_jid}@g.us`);
    expect(contact).toMatchObject({ phone_number: null, name: expect.stringContaining("(GROUP)") });
    expect(chatwoot.messages.some(({ content }) => content?.includes("in the group"))).toBe(false);
  });

  test("a contact that agents created by phone number is reused and keeps its name", async () => {
    await save();
    chatwoot.startConversation({ name: "Beatriz, VIP", identifier: null, phone_number: `+${BIA}` });
    await receive({ from: BIA, push_name: "Bia", text: "Hello" });
    await story.conversation(BIA);
    await story.quiet();
    expect(chatwoot.contacts).toMatchObject([{ name: "Beatriz, VIP" }]);
    expect(chatwoot.conversations).toHaveLength(1);
  });

  test("a contact stored under the other format of a number is the same person", async () => {
    await save({ merge_brazil_contacts: true });
    chatwoot.startConversation({ name: "Bia", identifier: null, phone_number: "+552177770011" });
    await receive({ from: BIA, text: "Hello" });
    await story.conversation(BIA);
    expect(chatwoot.contacts).toHaveLength(1);
  });

  test("a phone number learned later is added to the contact, or merges two contacts", async () => {
    await save();
    const { client, id } = story.shop;
    await client.sandboxContact({ id, from: BIA, known: "lid" });
    await receive({ from: BIA, push_name: "Bia", text: "hidden" });
    await story.waitForMessage(({ content }) => content === "hidden");
    expect(chatwoot.contacts).toMatchObject([{ phone_number: null }]);
    chatwoot.contacts.push({
      id: 9000,
      name: "Bia",
      identifier: null,
      phone_number: `+${BIA}`,
      custom_attributes: {},
    });
    await client.sandboxContact({ id, from: BIA, known: "both" });
    await receive({ from: BIA, push_name: "Bia", text: "shown" });
    await story.waitForMessage(({ content }) => content === "shown");
    await story.quiet();
    expect(chatwoot.contacts).toMatchObject([{ id: 9000, phone_number: `+${BIA}` }]);
    expect(chatwoot.conversations).toHaveLength(1);
  });

  test("a deleted conversation is created again", async () => {
    const { conversation } = await open();
    chatwoot.conversations = [];
    await receive({ from: BIA, text: "still there?" });
    const message = await story.waitForMessage(({ content }) => content === "still there?");
    expect(message.conversation_id).not.toBe(conversation.id);
  });

  test("a resolved conversation is reopened, or a new one is created, as configured", async () => {
    const { conversation } = await open({ reopen_conversation: true });
    chatwoot.resolve(conversation);
    await receive({ from: BIA, text: "again" });
    await story.waitForMessage(({ content }) => content === "again");
    expect(conversation.status).toBe("open");
    await save({ reopen_conversation: false });
    chatwoot.resolve(conversation);
    await story.quiet();
    await receive({ from: BIA, text: "anew" });
    const anew = await story.waitForMessage(({ content }) => content === "anew");
    expect(anew.conversation_id).not.toBe(conversation.id);
  });
});

describe("messages from the inbox to WhatsApp", () => {
  test("an agent's reply is sent once, is shown as delivered and read, and never loops", async () => {
    const { conversation } = await open();
    chatwoot.faults.webhookFirst = true;
    const answer = chatwoot.write(conversation.id, "**Good** day");
    await story.waitForSent(1);
    for (let n = 0; n < 10; n++) await chatwoot.repeat(answer, n % 2 ? "message_updated" : "message_created");
    await waitUntil(() => answer.status === "read");
    await story.quiet();
    expect(await story.sent()).toMatchObject([{ content: { text: "*Good* day" }, jid: BIA_JID }]);
    expect(chatwoot.of(conversation.id)).toHaveLength(2);
  });

  test("two messages whose webhooks arrive out of order are sent in the right order", async () => {
    const { conversation } = await open();
    const group = `conversation:${conversation.id}`;
    const { pool } = story.gateway.database;
    // Blocks the group until the clock advances, so the second webhook may be slow.
    const holdUp = `insert into job (lane, prio, pos, grp, run_at, ref)
      select inbound_lane, 1, 0, $2, now() + interval '1 hour',
        jsonb_build_object('do', 'task', 'integration', id, 'task', jsonb_build_object('inbound', 0))
      from integration where instance_id = $1`;
    await pool.query(holdUp, [story.shop.id, group]);
    chatwoot.faults.holdWebhooks = true;
    chatwoot.write(conversation.id, "first");
    chatwoot.write(conversation.id, "second");
    const releasedAt = Date.now();
    await chatwoot.release((places) => places.toReversed());
    const waiting = await pool.query("select run_at from job where grp = $1 and pos > 0", [group]);
    // Each message waits briefly for one that was written before it.
    expect(waiting.rows.map(({ run_at }) => run_at.getTime() - releasedAt > 200)).toEqual([true, true]);
    await story.gateway.advance(3_600_000);
    const sent = await story.waitForSent(2);
    expect(sent.map(({ content }) => content.text)).toEqual(["first", "second"]);
  });

  test("a text precedes several files and becomes the caption of one; a file may arrive later", async () => {
    const { conversation } = await open();
    const picture = { bytes: SAMPLE.jpeg, type: "image/jpeg", file_name: "photo.jpg" };
    const paper = { bytes: SAMPLE.pdf, type: "application/pdf", file_name: "offer.pdf" };
    chatwoot.faults.missingFiles = 1;
    chatwoot.write(conversation.id, { content: "see", attachments: [picture, paper] });
    await waitUntil(async () => {
      await story.gateway.advance(1_000);
      return (await story.sent()).length === 3;
    });
    chatwoot.faults.missingFiles = 0;
    chatwoot.write(conversation.id, { content: "this one", attachments: [picture] });
    const sent = await story.waitForSent(4);
    expect(sent.map(({ content }) => content)).toMatchObject([
      { kind: "text", text: "see" },
      { media_type: "image", file_name: "photo.jpg" },
      { media_type: "document", file_name: "offer.pdf" },
      { media_type: "image", caption: "this one" },
    ]);
  });

  test("private notes are never sent; automatic messages and lists of choices are", async () => {
    const { conversation } = await open({ sign_messages: true });
    chatwoot.write(conversation.id, { content: "between us", private: true });
    chatwoot.write(conversation.id, { content: "We are closed", template: true });
    const items = [
      { title: "Yes", value: "y" },
      { title: "No", value: "n" },
    ];
    chatwoot.write(conversation.id, {
      content: "Sure?",
      content_type: "input_select",
      content_attributes: { items },
    });
    await story.waitForSent(2);
    await story.quiet();
    expect((await story.sent()).map(({ content }) => content.text)).toEqual([
      "We are closed",
      "*Ana:*\nSure?\n1. Yes\n2. No",
    ]);
  });

  test("a list of cards is sent with its pictures, buttons and links", async () => {
    const { conversation } = await open();
    const items = [
      {
        title: "Shirt",
        description: "Cotton",
        media_url: "https://shop.example/shirt.jpg",
        actions: [
          { type: "link", text: "Buy", uri: "https://shop.example/shirt" },
          { type: "postback", text: "More", payload: "MORE" },
        ],
      },
      { title: "Cap", actions: [{ type: "link", uri: "https://shop.example/cap" }, null, "odd"] },
      "odd",
    ];
    chatwoot.write(conversation.id, {
      content: "Look",
      content_type: "cards",
      content_attributes: { items },
    });
    const [sent] = await story.waitForSent(1);
    expect(sent?.content.text.split("\n")).toEqual([
      "Look",
      "1. Shirt – Cotton",
      "https://shop.example/shirt.jpg",
      "• Buy: https://shop.example/shirt",
      "• More",
      "2. Cap",
      "• https://shop.example/cap",
    ]);
  });

  test("a reply quotes its message, and an agent's deletion deletes it for everyone", async () => {
    const { conversation, first, id } = await open();
    const answer = chatwoot.write(conversation.id, {
      content: "to that",
      content_attributes: { in_reply_to: first.id },
    });
    const [sent] = await story.waitForSent(1);
    expect(sent?.content.quoted).toMatchObject({ id, from_me: false });
    await waitUntil(() => answer.status === "read");
    chatwoot.remove(answer);
    await waitUntil(async () => (await story.sent())[0]?.deleted_at);
    await story.quiet();
    expect(chatwoot.calls.filter((call) => call.startsWith("DELETE"))).toEqual([]);
  });

  test("a message deleted before its webhook arrived is not sent", async () => {
    const { conversation } = await open();
    chatwoot.faults.holdWebhooks = true;
    const answer = chatwoot.write(conversation.id, "oops");
    chatwoot.remove(answer);
    await chatwoot.release((places) => places.toReversed());
    await story.quiet();
    expect(await story.sent()).toEqual([]);
  });

  test("a rejected message is shown as failed with the reason, and Retry sends it again", async () => {
    await save();
    const refused = "5521977770001";
    const conversation = chatwoot.startConversation({
      name: "X",
      identifier: null,
      phone_number: `+${refused}`,
    });
    const answer = chatwoot.write(conversation.id, "hi");
    await waitUntil(() => answer.status === "failed");
    await story.quiet();
    expect(answer.content_attributes.external_error).toBe("The network refused the message.");
    expect(await story.sent()).toHaveLength(1);
    chatwoot.retry(answer);
    await story.waitForSent(2);
    await waitUntil(() => answer.status === "failed");
    await story.quiet();
    expect(await story.sent()).toHaveLength(2);
  });

  test("an agent can start a conversation and gets the replies; without a number it fails", async () => {
    await save();
    const named = { name: "Beatriz, VIP", identifier: null, phone_number: `+${BIA}` };
    const conversation = chatwoot.startConversation(named);
    chatwoot.write(conversation.id, "May I?");
    await story.waitForSent(1);
    await receive({ from: BIA, push_name: "Bia", text: "Yes" });
    const yes = await story.waitForMessage(({ content }) => content === "Yes");
    expect(yes.conversation_id).toBe(conversation.id);
    expect(chatwoot.contacts.map(({ name }) => name)).toEqual(["Beatriz, VIP"]);
    const nobody = chatwoot.startConversation({ name: "Mail only", identifier: null, phone_number: null });
    const lost = chatwoot.write(nobody.id, "hello?");
    await waitUntil(() => lost.status === "failed");
    expect(lost.content_attributes.external_error).toBe("The contact has no WhatsApp number.");
  });

  test("an invalid picture is sent as a document, and the contact sees the agent typing", async () => {
    const { conversation } = await open({ typing: true });
    chatwoot.type(conversation, "conversation_typing_on");
    const typing = "select 1 from sandbox.ledger where action = 'presence' and chat = $1 and kind = 'typing'";
    await waitUntil(async () => (await story.gateway.database.pool.query(typing, [BIA_JID])).rowCount);
    const lie = { bytes: SAMPLE.pdf, type: "image/png", file_name: "scan.png" };
    chatwoot.write(conversation.id, { attachments: [lie] });
    const [sent] = await story.waitForSent(1);
    expect(sent?.content).toMatchObject({ media_type: "document", mime_type: "application/pdf" });
  });

  test("an agent's reply marks earlier messages as read if that is configured", async () => {
    const { conversation, id } = await open({ mark_read: true });
    chatwoot.write(conversation.id, "read it");
    await story.waitForSent(1);
    const isRead = "select 1 from message where message_id = $1 and read_at is not null";
    await waitUntil(async () => (await story.gateway.database.pool.query(isRead, [id])).rowCount);
  });
});

test("ten minutes without Chatwoot lose and repeat no message, and each chat keeps its order", async () => {
  await open();
  const people = [BIA, "5521977770012", "5521977770013"];
  const port = Number(new URL(chatwoot.url).port);
  await chatwoot.stop();
  for (const n of [1, 2, 3]) for (const from of people) await receive({ from, text: `${from} ${n}` });
  const integration = { id: story.shop.id, provider: "chatwoot" as const };
  await waitUntil(async () => {
    await story.gateway.advance(60_000);
    const { data } = await story.shop.client.getIntegration(integration);
    return data.status === "failing" && data.last_error?.includes("refused");
  });
  chatwoot.faults.status = 500;
  const before = chatwoot.calls.length;
  await chatwoot.start(port);
  await waitUntil(async () => {
    await story.gateway.advance(60_000);
    return chatwoot.calls.length >= before + 3;
  });
  chatwoot.faults.status = null;
  const arrived = (from: string) =>
    chatwoot.messages.map(({ content }) => content ?? "").filter((content) => content.startsWith(from));
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return people.every((from) => arrived(from).length >= 3);
  });
  await story.quiet();
  for (const from of people) expect(arrived(from)).toEqual([1, 2, 3].map((n) => `${from} ${n}`));
});
