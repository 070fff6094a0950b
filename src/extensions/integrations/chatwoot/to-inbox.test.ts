import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import type { FakeConversation } from "../../../../test/servers/fake-chatwoot.ts";
import { BIA, setUpChatwootStory } from "../../../../test/stories/chatwoot-story.ts";
import { newPerson } from "../../../../test/stories/integration-story.ts";
import { recordMessageChange } from "../../../core/messages/messages.ts";
import type { Jid, MessageId } from "../../../network/driver.ts";

const story = setUpChatwootStory();
const { chatwoot, open, query, read, receive, save, test: tryOut } = story;
const BIA_JID = `${BIA}@s.whatsapp.net`;
const OTHER = "+552177770031";
const GROUP = "120363041234567891";
/** The longest retry delay, with jitter, during a short outage. */
const LONGEST_WAIT_MS = 12_000;
const JOBS = "from job join integration i on i.lane = job.lane where i.instance_id = $1";

const contents = ({ id }: Pick<FakeConversation, "id">) => chatwoot.of(id).map(({ content }) => content);

/** Resolves when the waiting job has failed this many times. */
const failed = (times: number) =>
  waitUntil(async () => (await query(`select min(attempts) as n ${JOBS}`, story.shop.id))[0].n >= times);

async function longestWaitMs(): Promise<number> {
  const wait = "extract(epoch from max(run_at) - now()) * 1000";
  const [row] = await query(`select (${wait})::float8 as ms ${JOBS}`, story.shop.id);
  return row.ms;
}

describe("messages from WhatsApp to the inbox", () => {
  test("texts become messages in one conversation with their contact, in order", async () => {
    await save();
    const picture_url = "https://pictures.example/bia.jpg";
    await story.shop.client.sandboxContact({ id: story.shop.id, from: BIA, picture_url });
    const id = await receive({ from: BIA, push_name: "Bia", text: "Hello *you*" });
    for (const text of ["two", "three"]) await receive({ from: BIA, text });
    const conversation = await story.conversation(BIA);
    await story.untilIdle();
    expect(chatwoot.of(conversation.id)).toMatchObject([
      { content: "Hello **you**", message_type: "incoming", source_id: `WAID:${story.shop.id}:${id}` },
      { content: "two" },
      { content: "three" },
    ]);
    expect(chatwoot.contacts).toMatchObject([
      { name: "Bia", phone_number: `+${BIA}`, identifier: BIA_JID, avatar_url: picture_url },
    ]);
    expect(chatwoot.conversations).toHaveLength(1);
  });

  test("the gateway finds a posted message whose response was lost, and does not post it again", async () => {
    await save();
    chatwoot.faults.loseResponses = 1;
    await receive({ from: BIA, text: "once" });
    const conversation = await story.conversation(BIA);
    await waitUntil(async () => {
      await story.gateway.advance(30_000);
      return chatwoot.calls.some((call) => call.startsWith("GET") && call.endsWith("/messages"));
    });
    await receive({ from: BIA, text: "next" });
    await waitUntil(() => chatwoot.of(conversation.id).length >= 2);
    await story.untilIdle();
    expect(contents(conversation)).toEqual(["once", "next"]);
  });

  test("a message that is reported twice is posted once", async () => {
    const { conversation } = await open();
    const again = `insert into job (lane, prio, pos, grp, ref)
      select g.lane, 1, e.sequence, e.chat,
        jsonb_build_object('do', 'event', 'integration', g.id, 'event_id', e.event_id, 'at', e.created_at)
      from event e join integration g on g.instance_id = e.instance_id
      where e.instance_id = $1 and e.event = 'message.received'`;
    await query(again, story.shop.id);
    await receive({ from: BIA, text: "next" });
    await story.waitForMessage(({ content }) => content === "next");
    await story.untilIdle();
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
    await story.untilIdle();
    expect(contents(conversation)).toEqual(["Hello", "limit 1", "limit 200"]);
  });

  test("files keep their captions and kinds, locations a map link, cards a number, and the unreadable is a note", async () => {
    await save();
    const media = { base64: inBase64(SAMPLE.jpeg), type: "image" as const, caption: "*look*" };
    await receive({ from: BIA, media });
    await receive({ from: BIA, location: { latitude: -22.9, longitude: -43.2, name: "Office" } });
    await receive({ from: BIA, contact: { name: "Rui", phone: "5521977770099" } });
    for (const [type, file, mime_type] of [
      ["ptt", SAMPLE.opus, "audio/ogg; codecs=opus"],
      ["video", SAMPLE.mp4, "video/mp4"],
      ["sticker", SAMPLE.webp, "image/webp"],
    ] as const)
      await receive({ from: BIA, media: { base64: inBase64(file), type, mime_type } });
    await receive({ from: BIA, unsupported: { kind: "placeholder", reason: "masked" } });
    const conversation = await story.conversation(BIA);
    await waitUntil(() => chatwoot.of(conversation.id).length === 7);
    const [picture, place, card, ...others] = chatwoot.of(conversation.id);
    expect(others.pop()).toMatchObject({
      private: true,
      content: "[This message can be read on the phone only: placeholder]",
    });
    expect(picture).toMatchObject({
      content: "**look**",
      attachments: [{ content_type: "image/jpeg", file_type: "image", bytes: SAMPLE.jpeg }],
    });
    expect(place?.content).toBe("📍\nOffice\nhttps://maps.google.com/?q=-22.9,-43.2");
    expect(card?.content).toBe("👤 Rui\n+5521977770099");
    const shown = others.map(({ is_voice_message, attachments: [file] }) => [
      is_voice_message,
      file?.file_type,
      file?.content_type,
      file?.file_name,
    ]);
    expect(shown).toEqual([
      [true, "audio", "audio/ogg", "ptt.ogg"],
      [false, "video", "video/mp4", "video.mp4"],
      [false, "image", "image/webp", "sticker.webp"],
    ]);
  });

  test("a file that exceeds the upload limit of Chatwoot's proxy becomes a text that names it", async () => {
    await save();
    chatwoot.faults.largestFile = 50;
    const media = { base64: inBase64(SAMPLE.jpeg), type: "image" as const, caption: "look" };
    await receive({ from: BIA, media });
    const shown = await story.waitForMessage(({ content }) => content?.startsWith("look") ?? false);
    expect(shown).toMatchObject({
      content: "look\n[image.jpg: larger than Chatwoot accepts]",
      attachments: [],
    });
  });

  test("replies, edits, reactions and deletions refer to the right message", async () => {
    const { conversation, id } = await open();
    const [first] = chatwoot.of(conversation.id);
    await receive({ from: BIA, text: "answer", reply_to: id });
    const { client, id: shop } = story.shop;
    const by = { jid: BIA_JID as Jid, lid: null, phone: BIA, push_name: null };
    const unread = { text: null, reason: "no_secret", by, from_me: false, at: new Date() } as const;
    const { database, gateway } = story.gateway;
    await recordMessageChange(database.db, gateway.engine, shop, {
      type: "message_edited",
      chat: by.jid,
      id: id as MessageId,
      ...unread,
    });
    await client.sandboxEdit({ id: shop, from: BIA, message_id: id, text: "Hello, *all*" });
    await client.sandboxReact({ id: shop, from: BIA, message_id: id, reaction: "👍" });
    await waitUntil(() => chatwoot.of(conversation.id).length === 4);
    await client.sandboxDelete({ id: shop, from: BIA, message_id: id });
    await waitUntil(() => first?.content_attributes.deleted === true);
    await story.untilIdle();
    expect(chatwoot.of(conversation.id).slice(1)).toMatchObject([
      { content: "answer", content_attributes: { in_reply_to: first?.id } },
      { content: "✏️ Hello, **all**", content_attributes: { in_reply_to: first?.id } },
      { content: "👍", content_attributes: { in_reply_to: first?.id } },
    ]);
    expect(await story.sent()).toEqual([]);
  });

  test("a message deleted on WhatsApp stays in the inbox, with a note, if that is configured", async () => {
    const { conversation, id } = await open({ keep_deleted: true });
    await story.shop.client.sandboxDelete({ id: story.shop.id, from: BIA, message_id: id });
    const note = await story.waitForMessage(({ content }) => content?.includes("was deleted") ?? false);
    const [first] = chatwoot.of(conversation.id);
    expect(first).toMatchObject({ content: "Hello", content_attributes: {} });
    expect(note.content_attributes.in_reply_to).toBe(first?.id);
  });

  test("a message sent from the phone follows `sent_from_phone`", async () => {
    const { conversation } = await open({ sent_from_phone: "off" });
    await receive({ from: BIA, from_me: true, text: "not shown" });
    await receive({ from: BIA, text: "after" });
    await story.waitForMessage(({ content }) => content === "after");
    await save({ sent_from_phone: "message" });
    await receive({ from: BIA, from_me: true, text: "an echo" });
    await story.waitForMessage(({ content }) => content === "an echo");
    await save({ sent_from_phone: "private_note" });
    // Neither private notes nor captions are escaped.
    const media = { base64: inBase64(SAMPLE.jpeg), type: "image" as const, caption: "for {{contact.name}}" };
    await receive({ from: BIA, from_me: true, media });
    await story.waitForMessage(({ private: isPrivate }) => isPrivate);
    await story.untilIdle();
    expect(chatwoot.of(conversation.id).slice(1)).toMatchObject([
      { content: "after", message_type: "incoming" },
      {
        content: "an echo",
        message_type: "outgoing",
        private: false,
        content_attributes: { external_echo: true },
      },
      { content: "for {{contact.name}}", message_type: "outgoing", private: true },
    ]);
    expect(await story.sent()).toEqual([]);
  });

  test("a text from the phone keeps its Liquid syntax, and a received text is stored unchanged", async () => {
    const { conversation } = await open();
    const texts = [
      "Hi {{contact.name}}, {{ contact.email }}",
      "{% raw %}{{contact.name}}{% endraw %} and {% endraw %}",
      "see `{{contact.name}}` and ```{% if x %}`{{y}}```, {{contact.name}}",
      "{{{contact.name}}} {%{{% } {{ never closed `",
      "{% unknown %} 100%7B + `code`",
      "plain `code` {one} %{two}",
    ];
    for (const text of texts)
      for (const from_me of [false, true]) await receive({ from: BIA, from_me, text });
    await waitUntil(() => chatwoot.of(conversation.id).length === 1 + 2 * texts.length);
    expect(contents(conversation)).toEqual(["Hello", ...texts.flatMap((text) => [text, text])]);
  });

  test("groups are ignored by default; an included group is one contact, and replies quote in both directions", async () => {
    await save();
    const group_jid = GROUP;
    await receive({ from: BIA, group_jid, push_name: "Bia", text: "in the group" });
    await receive({ from: BIA, text: "alone" });
    await story.waitForMessage(({ content }) => content === "alone");
    await story.untilIdle();
    await save({ groups: true });
    const id = await receive({ from: BIA, group_jid, push_name: "Bia", text: "who comes?" });
    const asked = await story.waitForMessage(({ content }) => content?.includes("who comes?") ?? false);
    expect(asked.content).toMatch(new RegExp(`^\\*\\*\\+${BIA} – Bia:\\*\\*\\nwho comes\\?$`));
    const contact = chatwoot.contacts.find(({ identifier }) => identifier === `${GROUP}@g.us`);
    expect(contact).toMatchObject({ phone_number: null, name: expect.stringContaining("(GROUP)") });
    expect(chatwoot.messages.some(({ content }) => content?.includes("in the group"))).toBe(false);
    await story.untilIdle();
    const reply = chatwoot.write(asked.conversation_id, {
      content: "I do",
      content_attributes: { in_reply_to: asked.id },
    });
    const [sent] = await story.waitForSent(1);
    expect(sent).toMatchObject({
      jid: `${GROUP}@g.us`,
      content: { text: "I do", quoted: { id, from_me: false, sender: BIA_JID, text: "who comes?" } },
    });
    await receive({ from: BIA, group_jid, text: "good", reply_to: sent?.message_id });
    const good = await story.waitForMessage(({ content }) => content?.endsWith("good") ?? false);
    expect(good.content_attributes.in_reply_to).toBe(reply.id);
  });
});

describe("contacts and conversations of a Chatwoot inbox", () => {
  test("a phone number that another contact has meanwhile is looked up; the message arrives", async () => {
    await save();
    chatwoot.startConversation({ name: "Beatriz", identifier: null, phone_number: `+${BIA}` });
    chatwoot.faults.takenPhones = 1;
    await receive({ from: BIA, push_name: "Bia", text: "Hello" });
    await story.waitForMessage(({ content }) => content === "Hello");
    expect(chatwoot.contacts.map(({ name }) => name)).toEqual(["Beatriz"]);
  });

  test("a contact stored under the other format of its number is reused with agents' changes", async () => {
    await save();
    const old = chatwoot.startConversation({ name: "Bia, VIP", identifier: null, phone_number: OTHER });
    await receive({ from: BIA, push_name: "Bia", text: "Hello" });
    const hello = await story.waitForMessage(({ content }) => content === "Hello");
    expect(hello.conversation_id).toBe(old.id);
    expect(chatwoot.contacts).toMatchObject([{ name: "Bia, VIP", phone_number: OTHER }]);
  });

  test("two contacts under both formats of a number are merged into the older one if that is enabled", async () => {
    await save({ merge_brazil_contacts: true });
    const old = chatwoot.startConversation({ name: "Bia, VIP", identifier: null, phone_number: OTHER });
    const [older] = chatwoot.contacts;
    Object.assign(older ?? {}, { custom_attributes: { plan: "gold" } });
    const recent = chatwoot.startConversation({ name: "Bia", identifier: null, phone_number: `+${BIA}` });
    const newer = chatwoot.contacts[1];
    Object.assign(newer ?? {}, { custom_attributes: { plan: "none", city: "Rio" } });
    await receive({ from: BIA, push_name: "Bia", text: "Hello" });
    await story.waitForMessage(({ content }) => content === "Hello");
    await story.untilIdle();
    expect(chatwoot.contacts).toMatchObject([
      { id: older?.id, name: "Bia, VIP", custom_attributes: { plan: "gold", city: "Rio" } },
    ]);
    expect(new Set([old, recent].map(({ contact_id }) => contact_id))).toEqual(new Set([older?.id]));
    await receive({ from: BIA, push_name: "Bia", text: "again" });
    const again = await story.waitForMessage(({ content }) => content === "again");
    expect([old.id, recent.id]).toContain(again.conversation_id);
  });

  test("a merged contact without a name gets the name of the other contact", async () => {
    await save({ merge_brazil_contacts: true });
    chatwoot.startConversation({ name: OTHER, identifier: null, phone_number: OTHER });
    chatwoot.startConversation({ name: "Beatriz", identifier: null, phone_number: `+${BIA}` });
    await receive({ from: BIA, push_name: "Bia", text: "Hello" });
    await story.waitForMessage(({ content }) => content === "Hello");
    await story.untilIdle();
    expect(chatwoot.contacts).toMatchObject([{ name: "Beatriz" }]);
  });

  test("messages from an address of another contact in the inbox appear under that contact", async () => {
    await save();
    const { contact_id, id } = chatwoot.startConversation({
      name: "Rui",
      identifier: null,
      phone_number: null,
    });
    const inbox_id = chatwoot.inbox.id;
    chatwoot.contactInboxes.push({ contact_id, inbox_id, source_id: BIA_JID });
    chatwoot.startConversation({ name: "Bia", identifier: null, phone_number: OTHER });
    await receive({ from: BIA, push_name: "Bia", text: "Hello" });
    const hello = await story.waitForMessage(({ content }) => content === "Hello");
    expect(hello.conversation_id).toBe(id);
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
    await story.untilIdle();
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
    await story.untilIdle();
    await receive({ from: BIA, text: "anew" });
    const anew = await story.waitForMessage(({ content }) => content === "anew");
    expect(anew.conversation_id).not.toBe(conversation.id);
  });

  test("an inbox locked to one conversation after the save reopens it, and the test says so", async () => {
    chatwoot.version = "4.13.0";
    const { conversation } = await open({ reopen_conversation: false });
    chatwoot.inbox.lock_to_single_conversation = true;
    chatwoot.resolve(conversation);
    await story.untilIdle();
    await receive({ from: BIA, text: "again" });
    const again = await story.waitForMessage(({ content }) => content === "again");
    expect(again.conversation_id).toBe(conversation.id);
    expect(await tryOut()).toMatchObject({
      success: false,
      message: expect.stringContaining("single conversation"),
    });
  });
});

describe("a Chatwoot that is unavailable", () => {
  test("loses and repeats no message in ten minutes, is called every 12 seconds, and each chat keeps its order", async () => {
    await open();
    const people = [BIA, "5521977770012", "5521977770013"];
    chatwoot.faults.hangsUp = true;
    for (const n of [1, 2, 3]) for (const from of people) await receive({ from, text: `${from} ${n}` });
    for (let tries = 1; tries <= 7; tries++) {
      await story.gateway.advance(600_000);
      await waitUntil(
        async () => (await query(`select max(attempts) as n ${JOBS}`, story.shop.id))[0].n >= tries,
      );
      expect(await longestWaitMs()).toBeLessThanOrEqual(LONGEST_WAIT_MS);
    }
    expect(await read()).toMatchObject({ status: "failing", last_error: expect.stringContaining("closed") });
    chatwoot.faults.status = 500;
    const before = chatwoot.calls.length;
    chatwoot.faults.hangsUp = false;
    await waitUntil(async () => {
      await story.gateway.advance(60_000);
      return chatwoot.calls.length >= before + 3;
    });
    chatwoot.faults.status = null;
    const arrived = (from: string) =>
      chatwoot.messages.map(({ content }) => content ?? "").filter((content) => content.startsWith(from));
    await waitUntil(async () => {
      await story.gateway.advance(600_000);
      return people.every((from) => arrived(from).length >= 3);
    });
    await story.untilIdle();
    for (const from of people) expect(arrived(from)).toEqual([1, 2, 3].map((n) => `${from} ${n}`));
  });

  test("is called as often although a message has waited long for its file", async () => {
    await save();
    chatwoot.faults.status = 500;
    await receive({ from: newPerson(), text: "Hello" });
    await failed(1);
    const { id } = story.shop;
    const ofLane = "lane = (select lane from integration where instance_id = $1)";
    await query(`update job set attempts = 100, ref = ref - 'tries', run_at = now() where ${ofLane}`, id);
    await story.gateway.advance(0);
    await failed(101);
    expect(await longestWaitMs()).toBeLessThanOrEqual(LONGEST_WAIT_MS);
  });

  test("gets the waiting messages of every chat at once after a successful test call", async () => {
    // Later versions do not call loopback addresses, which the integration test reports.
    chatwoot.version = "4.13.0";
    await save();
    chatwoot.faults.status = 500;
    const texts = Array.from({ length: 12 }, (_, n) => `Hello ${n}`);
    for (const text of texts) await receive({ from: newPerson(), text });
    await waitUntil(async () => (await read()).paused_until !== null);
    expect((await tryOut()).success).toBe(false);
    chatwoot.faults.status = null;
    expect((await tryOut()).success).toBe(true);
    await waitUntil(() => chatwoot.messages.length === texts.length);
    await story.untilIdle();
    expect(chatwoot.messages.map(({ content }) => content).sort()).toEqual(texts.toSorted());
    expect(await read()).toMatchObject({ status: "ok", paused_until: null });
  });

  test.each(["truncateResponses", "pages"] as const)(
    "gets a message once although its response does not come from Chatwoot itself: %s",
    async (fault) => {
      await save();
      const ana = newPerson();
      chatwoot.faults[fault] = 2;
      await receive({ from: ana, text: "Hello" });
      await waitUntil(async () => (await read()).status === "failing");
      expect((await read()).last_error).toMatch(/did not come from Chatwoot.*sent again/);
      await receive({ from: ana, text: "Are you there?" });
      await waitUntil(async () => {
        await story.gateway.advance(60_000);
        return chatwoot.messages.length === 2 && (await read()).waiting === 0;
      });
      await story.untilIdle();
      expect(chatwoot.messages.map(({ content }) => content)).toEqual(["Hello", "Are you there?"]);
      expect((await read()).status).toBe("ok");
    },
  );

  test.each([
    [401, { status: "auth_error", last_error_code: "chatwoot_token" }],
    [403, {}],
    [404, {}],
  ] as const)(
    "that responds with %i gets the waiting messages after the next save",
    async (status, shown) => {
      await open();
      chatwoot.faults.status = status;
      for (const text of ["one", "two"]) await receive({ from: BIA, text });
      await expect.poll(read).toMatchObject({ waiting: 2, last_error: expect.any(String), ...shown });
      chatwoot.faults.status = null;
      await save({ sign_messages: true });
      await story.waitForMessage(({ content }) => content === "two");
      await story.untilIdle();
      expect(contents(await story.conversation(BIA))).toEqual(["Hello", "one", "two"]);
    },
  );
});
