import { describe, expect, test } from "vitest";
import { setUpChatwootStory } from "../../../../test/chatwoot-story.ts";
import { FakeChatwoot, type FakeConversation } from "../../../../test/fake-chatwoot.ts";
import { waitUntil } from "../../../../test/gateway.ts";
import { findProgram } from "../../../../test/programs.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { ask, bubble, startTypebot } from "../../../../test/typebot-server.ts";

const story = setUpChatwootStory();
const { chatwoot, receive, save } = story;
const BIA = "5521977770031";
const BIA_JID = `${BIA}@s.whatsapp.net`;
const OTHER = "+552177770031";
const GROUP = "120363041234567891";
/** A tenth of a second of silence. */
const WAV = Buffer.concat([
  Buffer.from("RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0", "latin1"),
  Buffer.from("data\x40\x06\0\0", "latin1"),
  Buffer.alloc(1600),
]);

const query = async (text: string, ...values: unknown[]) =>
  (await story.gateway.database.pool.query(text, values)).rows;
const read = async () =>
  (await story.shop.client.getIntegration({ id: story.shop.id, provider: "chatwoot" })).data;
const words = async () => (await story.sent()).map(({ content }) => content.text);
const contents = ({ id }: FakeConversation) => chatwoot.of(id).map(({ content }) => content);

/** Saves the integration and lets Bia's first message reach the inbox. */
async function open(fields: Record<string, unknown> = {}) {
  await save(fields);
  const id = await receive({ from: BIA, push_name: "Bia", text: "Hello" });
  const conversation = await story.conversation(BIA);
  await story.quiet();
  return { conversation, id };
}

/** Makes waiting jobs due until the condition is true. */
async function until(isDone: () => unknown): Promise<void> {
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    return isDone();
  });
}

describe("messages of each kind between WhatsApp and Chatwoot", () => {
  test("voice notes, videos and stickers from WhatsApp keep their kind in the inbox", async () => {
    await save();
    for (const [type, file, mime_type] of [
      ["ptt", SAMPLE.opus, "audio/ogg; codecs=opus"],
      ["video", SAMPLE.mp4, "video/mp4"],
      ["sticker", SAMPLE.webp, "image/webp"],
    ] as const)
      await receive({ from: BIA, media: { base64: inBase64(file), type, mime_type } });
    const conversation = await story.conversation(BIA);
    await waitUntil(() => chatwoot.of(conversation.id).length === 3);
    const shown = chatwoot.of(conversation.id).map(({ is_voice_message, attachments: [file] }) => ({
      is_voice_message,
      file_type: file?.file_type,
      content_type: file?.content_type,
      name: file?.file_name,
    }));
    expect(shown).toEqual([
      { is_voice_message: true, file_type: "audio", content_type: "audio/ogg", name: "ptt.ogg" },
      { is_voice_message: false, file_type: "video", content_type: "video/mp4", name: "video.mp4" },
      { is_voice_message: false, file_type: "image", content_type: "image/webp", name: "sticker.webp" },
    ]);
  });

  test("a voice recording by an agent is sent as a voice note, and a video as a video", async () => {
    const { conversation } = await open();
    const attachments = [
      { bytes: SAMPLE.opus, type: "audio/ogg; codecs=opus", file_name: "note.ogg" },
      { bytes: SAMPLE.mp4, type: "video/mp4", file_name: "film.mp4" },
    ];
    chatwoot.write(conversation.id, { attachments });
    const sent = await story.waitForSent(2);
    expect(sent.map(({ content }) => content.media_type)).toEqual(["ptt", "video"]);
  });

  test("an agent's file keeps its kind when Chatwoot's webhook contains only the kind", async () => {
    const { conversation } = await open();
    chatwoot.faults.untypedFiles = true;
    const attachments = [
      { bytes: SAMPLE.opus, type: "audio/ogg", file_name: "note.ogg" },
      { bytes: SAMPLE.mp3, type: "audio/mpeg", file_name: "song.mp3" },
      { bytes: SAMPLE.jpeg, type: "image/jpeg", file_name: "photo.jpg" },
      { bytes: SAMPLE.mp4, type: "video/mp4", file_name: "film.mp4" },
      { bytes: SAMPLE.pdf, type: "application/pdf", file_name: "offer.pdf" },
    ];
    chatwoot.write(conversation.id, { attachments });
    const sent = await story.waitForSent(attachments.length);
    const kinds = ["ptt", "audio", "image", "video", "document"];
    expect(sent.map(({ content }) => content.media_type)).toEqual(kinds);
  });

  test.skipIf(!findProgram("ffmpeg"))(
    "an agent's recording is sent as a voice note and a song as audio, unless all audio is sent as voice",
    async () => {
      const { conversation } = await open();
      chatwoot.record(conversation.id, WAV, "wav");
      const song = { bytes: WAV, type: "audio/wav", file_name: "song.wav" };
      chatwoot.write(conversation.id, { attachments: [song] });
      await story.waitForSent(2);
      await save({ all_audio_as_voice: true });
      chatwoot.write(conversation.id, { attachments: [song] });
      const sent = await story.waitForSent(3);
      const voice = { media_type: "ptt", mime_type: "audio/ogg; codecs=opus" };
      expect(sent.map(({ content }) => content)).toMatchObject([voice, { media_type: "audio" }, voice]);
      expect((await read()).last_error).toBeNull();
    },
  );

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

  test("an agent's reply in a group quotes the member's message and is sent to the group", async () => {
    await save({ groups: true });
    const id = await receive({ from: BIA, group_jid: GROUP, push_name: "Bia", text: "who comes?" });
    const asked = await story.waitForMessage(({ content }) => content?.includes("who comes?") ?? false);
    await story.quiet();
    const answer = chatwoot.write(asked.conversation_id, {
      content: "I do",
      content_attributes: { in_reply_to: asked.id },
    });
    const [sent] = await story.waitForSent(1);
    expect(sent).toMatchObject({
      jid: `${GROUP}@g.us`,
      content: { text: "I do", quoted: { id, from_me: false, sender: BIA_JID, text: "who comes?" } },
    });
    await receive({ from: BIA, group_jid: GROUP, text: "good", reply_to: sent?.message_id });
    const good = await story.waitForMessage(({ content }) => content?.endsWith("good") ?? false);
    expect(good.content_attributes.in_reply_to).toBe(answer.id);
  });

  test("a message deleted on WhatsApp stays in the inbox, with a note, if that is configured", async () => {
    const { conversation, id } = await open({ keep_deleted: true });
    await story.shop.client.sandboxDelete({ id: story.shop.id, from: BIA, message_id: id });
    const note = await story.waitForMessage(({ content }) => content?.includes("was deleted") ?? false);
    const [first] = chatwoot.of(conversation.id);
    expect(first).toMatchObject({ content: "Hello", content_attributes: {} });
    expect(note.content_attributes.in_reply_to).toBe(first?.id);
  });

  test("an agent can delete a message from the phone; deletions on WhatsApp are not sent back", async () => {
    const { conversation } = await open();
    await receive({ from: BIA, from_me: true, text: "oops" });
    await receive({ from: BIA, from_me: true, text: "kept" });
    const oops = await story.waitForMessage(({ content }) => content === "oops");
    const kept = await story.waitForMessage(({ content }) => content === "kept");
    await story.quiet();
    chatwoot.remove(oops);
    const gone = "select 1 from message where content ->> 'text' = 'oops' and deleted_at is not null";
    await waitUntil(async () => (await query(gone)).length > 0);
    const message_id = kept.source_id?.split(":").at(-1) ?? "";
    const { client, id } = story.shop;
    await client.sandboxDelete({ id, from: BIA, message_id, from_me: true });
    await waitUntil(() => kept.content_attributes.deleted === true);
    await story.quiet();
    expect(chatwoot.calls.filter((call) => call.startsWith("DELETE"))).toHaveLength(1);
    const deletions = "select target_id from sandbox.ledger where action = 'delete' and chat = $1";
    expect(await query(deletions, BIA_JID)).toHaveLength(1);
    expect(contents(conversation)).toHaveLength(3);
  });

  test("a contact is created with its profile picture", async () => {
    await save();
    const picture_url = "https://pictures.example/bia.jpg";
    await story.shop.client.sandboxContact({ id: story.shop.id, from: BIA, picture_url });
    await receive({ from: BIA, text: "Hello" });
    await story.conversation(BIA);
    expect(chatwoot.contacts).toMatchObject([{ avatar_url: picture_url }]);
  });
});

describe("contacts of a Chatwoot inbox", () => {
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
    await story.quiet();
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
    await story.quiet();
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

  test("an inbox locked to one conversation after the save reopens it, and the test says so", async () => {
    chatwoot.version = "4.13.0";
    const { conversation } = await open({ reopen_conversation: false });
    chatwoot.inbox.lock_to_single_conversation = true;
    chatwoot.resolve(conversation);
    await story.quiet();
    await receive({ from: BIA, text: "again" });
    const again = await story.waitForMessage(({ content }) => content === "again");
    expect(again.conversation_id).toBe(conversation.id);
    const { data } = await story.shop.client.testIntegration({ id: story.shop.id, provider: "chatwoot" });
    expect(data).toMatchObject({ success: false, message: expect.stringContaining("single conversation") });
  });
});

describe("Liquid escaping of outgoing messages for Chatwoot", () => {
  const TEXTS = [
    "Hi {{contact.name}}, {{ contact.email }}",
    "{% raw %}{{contact.name}}{% endraw %} and {% endraw %}",
    "see `{{contact.name}}` and ```{% if x %}`{{y}}```, {{contact.name}}",
    "{{{contact.name}}} {%{{% } {{ never closed `",
    "{% unknown %} 100%7B + `code`",
    "plain `code` {one} %{two}",
  ];

  test.each(TEXTS)(
    "a text from the phone keeps its Liquid syntax, and a received text is stored unchanged: %s",
    async (text) => {
      await open();
      await receive({ from: BIA, text });
      await receive({ from: BIA, from_me: true, text });
      await receive({ from: BIA, text: "after" });
      const { conversation_id } = await story.waitForMessage(({ content }) => content === "after");
      expect(contents({ id: conversation_id } as FakeConversation)).toEqual(["Hello", text, text, "after"]);
    },
  );

  test("a private note and the caption of a file are not escaped", async () => {
    await open({ sent_from_phone: "private_note" });
    const media = { base64: inBase64(SAMPLE.jpeg), type: "image" as const, caption: "for {{contact.name}}" };
    await receive({ from: BIA, from_me: true, media });
    const note = await story.waitForMessage(({ private: isPrivate }) => isPrivate);
    expect(note.content).toBe("for {{contact.name}}");
  });
});

describe("an agent's Retry", () => {
  const picture = { bytes: SAMPLE.jpeg, type: "image/jpeg", file_name: "photo.jpg" };
  const paper = { bytes: SAMPLE.pdf, type: "application/pdf", file_name: "offer.pdf" };

  test("sends only the parts that failed", async () => {
    const { conversation } = await open();
    const answer = chatwoot.write(conversation.id, { content: "see", attachments: [picture, paper] });
    const sent = await story.waitForSent(3);
    await waitUntil(() => answer.status === "read");
    await story.quiet();
    const failed = sent.at(-1)?.message_id;
    await query("update message set status = 'failed' where message_id = $1", failed);
    await query("update integration_link set status = 'failed' where message_id = $1", failed);
    chatwoot.retry(answer);
    const all = await story.waitForSent(4);
    await story.quiet();
    expect(await story.sent()).toHaveLength(4);
    expect(all.at(-1)?.content).toMatchObject({ media_type: "document", file_name: "offer.pdf" });
  });

  test("is requested by a private note in a Chatwoot version that cannot show failed messages", async () => {
    chatwoot.version = "4.1.0";
    await save();
    const named = { name: "X", identifier: null, phone_number: "+5521977770001" };
    const conversation = chatwoot.startConversation(named);
    const answer = chatwoot.write(conversation.id, "hi");
    const note = await story.waitForMessage(({ private: isPrivate }) => isPrivate);
    expect(note).toMatchObject({
      content: "⚠️ The network refused the message.",
      content_attributes: { in_reply_to: answer.id },
    });
    await story.quiet();
    expect(await story.sent()).toHaveLength(1);
  });

  test.each([
    { what: "banned", end: () => story.shop.client.sandboxBan({ id: story.shop.id }), reason: /banned/ },
    {
      what: "logged out",
      end: () => story.shop.client.logoutInstance({ id: story.shop.id }),
      reason: /logged out/,
    },
    {
      what: "removed",
      end: () => story.gateway.owner.deleteInstance({ id: story.shop.id }),
      reason: /removed/,
    },
  ])("fails at once and shows the reason when the instance is $what", async ({ end, reason }) => {
    await save();
    const named = { name: "X", identifier: null, phone_number: "+5521977770002" };
    const conversation = chatwoot.startConversation(named);
    chatwoot.write(conversation.id, "never acknowledged");
    const waiting = chatwoot.write(conversation.id, "behind it");
    await story.waitForSent(2);
    await waitUntil(
      async () =>
        (
          await query(
            "select from message where submitted_at is not null and instance_id = $1",
            story.shop.id,
          )
        ).length > 0,
    );
    await end();
    await waitUntil(() => waiting.status === "failed");
    expect(waiting.content_attributes.external_error).toMatch(reason);
  });

  test("does not resend a message that arrived after its failure was reported", async () => {
    await save();
    const named = { name: "X", identifier: null, phone_number: "+5521977770001" };
    const conversation = chatwoot.startConversation(named);
    const answer = chatwoot.write(conversation.id, "hi");
    await waitUntil(() => answer.status === "failed");
    await story.quiet();
    const late = "update message set status = 'delivered' where instance_id = $1 and origin = 'inbox'";
    await query(late, story.shop.id);
    // First the echo of the gateway's own status update, then the agent's Retry.
    answer.content_attributes = { external_error: null };
    await chatwoot.repeat(answer, "message_updated");
    chatwoot.retry(answer);
    await story.quiet();
    expect(await story.sent()).toHaveLength(1);
  });

  test("sends a message that the gateway rejected while unavailable, but only once", async () => {
    const { conversation } = await open();
    const holder = await story.gateway.database.pool.connect();
    await holder.query("begin; set local idle_in_transaction_session_timeout = 0");
    await holder.query("lock table integration_inbound in exclusive mode");
    const refused = chatwoot.write(conversation.id, "not taken");
    await waitUntil(() => refused.status === "failed");
    await holder.query("rollback");
    holder.release();
    await chatwoot.settled();
    expect(await words()).toEqual([]);
    chatwoot.retry(refused);
    await story.waitForSent(1);
    chatwoot.retry(refused);
    await story.quiet();
    expect(await words()).toEqual(["not taken"]);
  });

  test("sends a message once its missing attachment is available", async () => {
    const { conversation } = await open();
    chatwoot.faults.missingFiles = 6;
    const answer = chatwoot.write(conversation.id, { content: "see", attachments: [picture] });
    await until(() => answer.status === "failed");
    expect(answer.content_attributes.external_error).toMatch(/responded with 404/);
    chatwoot.retry(answer);
    const [sent] = await story.waitForSent(1);
    expect(sent?.content).toMatchObject({ media_type: "image", caption: "see" });
  });
});

test("a bot's replies appear in the inbox, and an agent who replies pauses the bot", async () => {
  const typebot = await startTypebot();
  typebot.publish("shop", [bubble("a", "Welcome"), ask("q"), bubble("b", "Bye"), ask("r")]);
  const { client, id } = story.shop;
  const bot = { id, provider: "typebot" as const };
  await client.saveIntegration({ ...bot, config: { base_url: typebot.url, public_id: "shop" } });
  try {
    await save();
    await receive({ from: BIA, text: "Hello" });
    const welcome = await story.waitForMessage(({ content }) => content === "Welcome");
    expect(welcome).toMatchObject({ message_type: "outgoing", content_attributes: { external_echo: true } });
    chatwoot.write(welcome.conversation_id, "I take over");
    await story.waitForSent(1);
    const paused = "select 1 from integration_chat where chat = $1 and state ? 'paused_until'";
    await waitUntil(async () => (await query(paused, BIA_JID)).length > 0);
    await receive({ from: BIA, text: "thank you" });
    await story.waitForMessage(({ content }) => content === "thank you");
    await story.quiet();
    expect(typebot.inputs()).toEqual(["Hello"]);
    expect(await words()).toEqual(["I take over"]);
  } finally {
    await client.deleteIntegration(bot);
    await typebot.shut();
  }
});

describe("webhooks from Chatwoot", () => {
  test("are acknowledged before anything is sent or fetched", async () => {
    const { conversation } = await open();
    await story.shop.client.sandboxDrop({ id: story.shop.id });
    chatwoot.faults.missingFiles = 2;
    const file = { bytes: SAMPLE.jpeg, type: "image/jpeg", file_name: "photo.jpg" };
    const answer = chatwoot.write(conversation.id, { content: "later", attachments: [file] });
    await chatwoot.settled();
    expect(chatwoot.hooks.filter(({ status }) => status !== 200)).toEqual([]);
    // Advances by less than the time that a message may wait for its instance.
    await waitUntil(async () => {
      await story.gateway.advance(20_000);
      return (await story.sent()).length === 1;
    });
    await waitUntil(() => answer.status === "read");
  });

  test("need `files_from_url` if the gateway cannot reach the addresses of their files", async () => {
    const { conversation } = await open();
    chatwoot.faults.frontend = "http://chat.invalid";
    const file = { bytes: SAMPLE.jpeg, type: "image/jpeg", file_name: "photo.jpg" };
    const lost = chatwoot.write(conversation.id, { attachments: [file] });
    await until(() => lost.status === "failed");
    await save({ files_from_url: true });
    chatwoot.write(conversation.id, { content: "found", attachments: [file] });
    const [sent] = await story.waitForSent(1);
    expect(sent?.content.caption).toBe("found");
  });
});

describe("Chatwoot settings that change while messages wait", () => {
  test.each([403, 404] as const)(
    "a Chatwoot that responds with %i loses no message: waiting ones arrive after the next save",
    async (status) => {
      await open();
      chatwoot.faults.status = status;
      await receive({ from: BIA, text: "one" });
      await receive({ from: BIA, text: "two" });
      await waitUntil(async () => (await read()).last_error !== null);
      await waitUntil(async () => (await read()).waiting === 2);
      chatwoot.faults.status = null;
      await save({ sign_messages: true });
      await story.waitForMessage(({ content }) => content === "two");
      await story.quiet();
      expect(contents(await story.conversation(BIA))).toEqual(["Hello", "one", "two"]);
    },
  );

  test("the same ids in another Chatwoot belong to different messages", async () => {
    const { conversation } = await open();
    chatwoot.write(conversation.id, "from the old one");
    await story.waitForSent(1);
    await story.quiet();
    const firstId = Math.min(...chatwoot.messages.map(({ id }) => id));
    const tokenOf = (url: string | null) => url?.split("/").at(-1);
    const oldToken = tokenOf(chatwoot.inbox.webhook_url);
    const other = await new FakeChatwoot(firstId - 4).start();
    try {
      await save({ url: other.url, access_token: other.token });
      await receive({ from: BIA, text: "moved" });
      await waitUntil(() => other.messages.some(({ content }) => content === "moved"));
      const texts = ["answer 1", "answer 2", "answer 3"];
      const [there] = other.conversations;
      const known = new Set(chatwoot.messages.map(({ id }) => id));
      const written = texts.map((text) => other.write(there?.id ?? 0, text));
      expect(written.some(({ id }) => known.has(id))).toBe(true);
      await story.waitForSent(4);
      expect((await words()).toSorted()).toEqual(["from the old one", ...texts].toSorted());
      expect(chatwoot.inbox.webhook_url).toBe("");
      expect(tokenOf(other.inbox.webhook_url)).toMatch(/^[\w-]{32}$/);
      expect(tokenOf(other.inbox.webhook_url)).not.toBe(oldToken);
      await waitUntil(() => written.every((message) => message.status === "read"));
    } finally {
      await story.remove();
      await other.stop();
    }
  });

  test("an integration removed and added again sends nothing twice, and Retry sends the rest", async () => {
    const { conversation } = await open();
    const answer = chatwoot.write(conversation.id, "before");
    await story.waitForSent(1);
    await waitUntil(() => answer.status === "read");
    await story.quiet();
    const { webhook_url } = chatwoot.inbox;
    await story.remove();
    expect(chatwoot.inbox.webhook_url).toBe("");
    chatwoot.inbox.webhook_url = webhook_url;
    const missed = chatwoot.write(conversation.id, "meanwhile");
    await waitUntil(() => missed.status === "failed");
    chatwoot.inbox.webhook_url = "";
    await save();
    await chatwoot.repeat(answer, "message_updated");
    chatwoot.retry(missed);
    await story.waitForSent(2);
    await story.quiet();
    expect(await words()).toEqual(["before", "meanwhile"]);
  });

  test("removing an instance clears the webhook of its inbox and drops its waiting messages", async () => {
    const { conversation } = await open();
    chatwoot.messagesPerMinute = 0;
    await receive({ from: BIA, text: "waits" });
    await waitUntil(async () => (await read()).last_error !== null);
    await story.gateway.owner.deleteInstance({ id: story.shop.id });
    chatwoot.messagesPerMinute = 200;
    expect(chatwoot.inbox.webhook_url).toBe("");
    expect(await query("select 1 from integration where instance_id = $1", story.shop.id)).toEqual([]);
    await story.gateway.advance(600_000);
    await story.quiet();
    expect(contents(conversation)).toEqual(["Hello"]);
  });

  test("an inbox belongs to one instance, and posts of another instance are not agent replies", async () => {
    const { conversation } = await open();
    const second = await story.gateway.connectInstance();
    const config = {
      url: chatwoot.url,
      access_token: chatwoot.token,
      account_id: chatwoot.account_id,
      inbox_id: chatwoot.inbox.id,
    };
    const join = { id: second.id, provider: "chatwoot" as const };
    await expect(second.client.saveIntegration({ ...join, config })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await second.client.saveIntegration({ ...join, config: { ...config, force: true } });
    const { data: report } = await story.shop.client.testIntegration({ ...join, id: story.shop.id });
    expect(report.message).toMatch(/no longer leads to this gateway/);
    await receive({ from: BIA, from_me: true, text: "echo of the first" });
    await story.waitForMessage(({ content }) => content === "echo of the first");
    chatwoot.write(conversation.id, "by the second");
    const sent = "select content ->> 'text' as text from message where origin = 'inbox' and instance_id = $1";
    await waitUntil(async () => (await query(sent, second.id)).length > 0);
    await story.quiet();
    expect(await query(sent, second.id)).toEqual([{ text: "by the second" }]);
    expect(await story.sent()).toEqual([]);
    await second.client.deleteIntegration(join);
  });
});
