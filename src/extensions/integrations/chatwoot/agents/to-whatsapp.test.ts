import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../../../test/gateway.ts";
import { needs } from "../../../../../test/run/programs.ts";
import { SAMPLE } from "../../../../../test/sample-files.ts";
import { FakeChatwoot, type FakeConversation } from "../../../../../test/servers/fake-chatwoot.ts";
import { ask, bubble, startTypebot } from "../../../../../test/servers/typebot-server.ts";
import { startStatementMeter } from "../../../../../test/statement-meter.ts";
import { BIA, setUpChatwootStory } from "../../../../../test/stories/chatwoot-story.ts";
import { REORDER_TIMING } from "./receive-webhook.ts";

const story = setUpChatwootStory();
const { chatwoot, open, query, read, receive, save } = story;
const BIA_JID = `${BIA}@s.whatsapp.net`;
/** The sandbox rejects sends to that number. */
const REFUSED = "+5521977770001";
const PICTURE = { bytes: SAMPLE.jpeg, type: "image/jpeg", file_name: "photo.jpg" };
const PAPER = { bytes: SAMPLE.pdf, type: "application/pdf", file_name: "offer.pdf" };

const words = async () => (await story.sent()).map(({ content }) => content.text);
const contents = ({ id }: FakeConversation) => chatwoot.of(id).map(({ content }) => content);
const start = (phone_number: string | null, name = "X") =>
  chatwoot.startConversation({ name, identifier: null, phone_number });

/** Makes waiting jobs due until the condition holds. */
async function until(isDone: () => unknown): Promise<void> {
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    return isDone();
  });
}

describe("messages from the inbox to WhatsApp", () => {
  test("an agent's reply is sent once, is shown as delivered and read, and never loops", async () => {
    const { conversation } = await open();
    chatwoot.faults.webhookFirst = true;
    const reply = chatwoot.write(conversation.id, "**Good** day");
    await story.waitForSent(1);
    for (let n = 0; n < 10; n++) await chatwoot.repeat(reply, n % 2 ? "message_updated" : "message_created");
    await waitUntil(() => reply.status === "read");
    await story.untilIdle();
    expect(await story.sent()).toMatchObject([{ content: { text: "*Good* day" }, jid: BIA_JID }]);
    expect(chatwoot.of(conversation.id)).toHaveLength(2);
  });

  test("the other side's webhooks take only connections of requests, so they keep none from the sessions", async () => {
    const { conversation } = await open();
    const meter = startStatementMeter(story.gateway.database.url);
    try {
      const { statements } = await meter.measure(1, async () => {
        chatwoot.write(conversation.id, "Hello");
        await story.waitForSent(1);
        await read();
      });
      const poolsOf = (file: string) =>
        new Set(statements.filter(({ sentBy }) => sentBy.includes(file)).map(({ pool }) => pool));
      expect(poolsOf("chatwoot/agents/receive-webhook.ts")).toEqual(new Set(["waygate requests"]));
      expect(poolsOf("integrations/integration-row.ts")).toEqual(new Set(["waygate requests"]));
    } finally {
      meter.stop();
    }
  });

  test("two messages whose webhooks arrive out of order are sent in the right order", async () => {
    const { conversation } = await open();
    const group = `conversation:${conversation.id}`;
    const { pool } = story.gateway.database;
    // Blocks the group until the clock advances, so the second webhook may be slow.
    const blockGroup = `insert into job (lane, prio, pos, grp, run_at, ref)
      select inbound_lane, 1, 0, $2, now() + interval '1 hour',
        jsonb_build_object('do', 'task', 'integration', id, 'task', jsonb_build_object('inbound', 0))
      from integration where instance_id = $1`;
    await pool.query(blockGroup, [story.shop.id, group]);
    chatwoot.faults.holdWebhooks = true;
    chatwoot.write(conversation.id, "first");
    chatwoot.write(conversation.id, "second");
    const releasedAt = Date.now();
    await chatwoot.release((places) => places.toReversed());
    const waiting = await pool.query("select run_at from job where grp = $1 and pos > 0", [group]);
    // Each message waits briefly for earlier ones.
    const isLate = ({ run_at }: { run_at: Date }) => run_at.getTime() >= releasedAt + REORDER_TIMING.waitMs;
    expect(waiting.rows.map(isLate)).toEqual([true, true]);
    await story.gateway.advance(3_600_000);
    const sent = await story.waitForSent(2);
    expect(sent.map(({ content }) => content.text)).toEqual(["first", "second"]);
  });

  test("a text precedes several files and becomes the caption of one; a file may arrive later", async () => {
    const { conversation } = await open();
    chatwoot.faults.missingFiles = 1;
    chatwoot.write(conversation.id, { content: "see", attachments: [PICTURE, PAPER] });
    await waitUntil(async () => {
      await story.gateway.advance(1_000);
      return (await story.sent()).length === 3;
    });
    chatwoot.faults.missingFiles = 0;
    chatwoot.write(conversation.id, { content: "this one", attachments: [PICTURE] });
    const sent = await story.waitForSent(4);
    expect(sent.map(({ content }) => content)).toMatchObject([
      { kind: "text", text: "see" },
      { media_type: "image", file_name: "photo.jpg" },
      { media_type: "document", file_name: "offer.pdf" },
      { media_type: "image", caption: "this one" },
    ]);
  });

  test("private notes are never sent; automatic messages, lists of choices and cards are", async () => {
    const { conversation } = await open({ sign_messages: true });
    chatwoot.write(conversation.id, { content: "between us", private: true });
    chatwoot.write(conversation.id, { content: "We are closed", template: true });
    await story.waitForSent(1);
    const choices = [
      { title: "Yes", value: "y" },
      { title: "No", value: "n" },
    ];
    chatwoot.write(conversation.id, {
      content: "Sure?",
      content_type: "input_select",
      content_attributes: { items: choices },
    });
    const cards = [
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
    await story.waitForSent(2);
    chatwoot.write(conversation.id, {
      content: "Look",
      content_type: "cards",
      content_attributes: { items: cards },
    });
    await story.waitForSent(3);
    await story.untilIdle();
    expect(await words()).toEqual([
      "We are closed",
      "*Ana:*\nSure?\n1. Yes\n2. No",
      [
        "*Ana:*\nLook",
        "1. Shirt – Cotton",
        "https://shop.example/shirt.jpg",
        "• Buy: https://shop.example/shirt",
        "• More",
        "2. Cap",
        "• https://shop.example/cap",
      ].join("\n"),
    ]);
  });

  test("a reply quotes its message, and an agent's deletion deletes it for everyone", async () => {
    const { conversation, id } = await open();
    const [first] = chatwoot.of(conversation.id);
    const reply = chatwoot.write(conversation.id, {
      content: "to that",
      content_attributes: { in_reply_to: first?.id },
    });
    const [sent] = await story.waitForSent(1);
    expect(sent?.content.quoted).toMatchObject({ id, from_me: false });
    await waitUntil(() => reply.status === "read");
    chatwoot.remove(reply);
    await waitUntil(async () => (await story.sent())[0]?.deleted_at);
    await story.untilIdle();
    expect(chatwoot.calls.filter((call) => call.startsWith("DELETE"))).toEqual([]);
  });

  test("an agent can delete a message from the phone; deletions on WhatsApp are not sent back", async () => {
    const { conversation } = await open();
    await receive({ from: BIA, from_me: true, text: "oops" });
    await receive({ from: BIA, from_me: true, text: "kept" });
    const oops = await story.waitForMessage(({ content }) => content === "oops");
    const kept = await story.waitForMessage(({ content }) => content === "kept");
    await story.untilIdle();
    chatwoot.remove(oops);
    const gone = "select 1 from message where content ->> 'text' = 'oops' and deleted_at is not null";
    await waitUntil(async () => (await query(gone)).length > 0);
    const [oopsId = "", message_id = ""] = [oops, kept].map(({ source_id }) => source_id?.split(":").at(-1));
    const { client, id } = story.shop;
    await client.sandboxDelete({ id, from: BIA, message_id, from_me: true });
    await waitUntil(() => kept.content_attributes.deleted === true);
    await story.untilIdle();
    expect(chatwoot.calls.filter((call) => call.startsWith("DELETE"))).toHaveLength(1);
    const deletions = "select target_id from sandbox.ledger where action = 'delete' and target_id = any($1)";
    expect(await query(deletions, [oopsId, message_id])).toEqual([{ target_id: oopsId }]);
    expect(contents(conversation)).toHaveLength(3);
  });

  test("a message deleted before its webhook arrived is not sent", async () => {
    const { conversation } = await open();
    chatwoot.faults.holdWebhooks = true;
    const reply = chatwoot.write(conversation.id, "oops");
    chatwoot.remove(reply);
    await chatwoot.release((places) => places.toReversed());
    await story.untilIdle();
    expect(await story.sent()).toEqual([]);
  });

  test("an agent can start a conversation and gets the replies", async () => {
    await save();
    const conversation = start(`+${BIA}`, "Beatriz, VIP");
    chatwoot.write(conversation.id, "May I?");
    await story.waitForSent(1);
    await receive({ from: BIA, push_name: "Bia", text: "Yes" });
    const yes = await story.waitForMessage(({ content }) => content === "Yes");
    expect(yes.conversation_id).toBe(conversation.id);
    expect(chatwoot.contacts.map(({ name }) => name)).toEqual(["Beatriz, VIP"]);
  });

  test("a message without a number fails, which the agent sees even if Chatwoot was unavailable at that moment", async () => {
    await save();
    const nobody = start(null, "Nobody");
    await chatwoot.settled();
    chatwoot.faults.status = 500;
    const message = chatwoot.write(nobody.id, "Hello");
    const tries = "select max(attempts) as n from job join integration i on i.inbound_lane = job.lane";
    await waitUntil(async () => {
      await story.gateway.advance(1_000);
      return (await query(`${tries} where i.instance_id = $1`, story.shop.id))[0].n > 0;
    });
    chatwoot.faults.status = null;
    await waitUntil(async () => {
      await story.gateway.advance(60_000);
      return message.status === "failed";
    });
    expect(message.content_attributes.external_error).toBe("The contact has no WhatsApp number.");
    expect(await story.sent()).toEqual([]);
  });

  test("a contact sees an agent type, and that the reply has read the earlier messages", async () => {
    const { conversation, id } = await open({ typing: true, mark_read: true });
    chatwoot.type(conversation, "conversation_typing_on");
    const typing = "select 1 from sandbox.ledger where action = 'presence' and chat = $1 and kind = 'typing'";
    await waitUntil(async () => (await query(typing, BIA_JID)).length > 0);
    chatwoot.write(conversation.id, "read it");
    await story.waitForSent(1);
    const isRead = "select 1 from message where message_id = $1 and read_at is not null";
    await waitUntil(async () => (await query(isRead, id)).length > 0);
  });

  test.each([false, true])(
    "an agent's files keep their kinds; webhooks tell only the kind: %s",
    async (untyped) => {
      const { conversation } = await open();
      chatwoot.faults.untypedFiles = untyped;
      const attachments = [
        { bytes: SAMPLE.opus, type: "audio/ogg; codecs=opus", file_name: "note.ogg" },
        { bytes: SAMPLE.mp3, type: "audio/mpeg", file_name: "song.mp3" },
        PICTURE,
        { bytes: SAMPLE.mp4, type: "video/mp4", file_name: "film.mp4" },
        PAPER,
        { bytes: SAMPLE.pdf, type: "image/png", file_name: "scan.png" },
      ];
      chatwoot.write(conversation.id, { attachments });
      const sent = await story.waitForSent(attachments.length);
      const kinds = ["ptt", "audio", "image", "video", "document", "document"];
      expect(sent.map(({ content }) => content.media_type)).toEqual(kinds);
      expect(sent.at(-1)?.content.mime_type).toBe("application/pdf");
    },
  );

  test(
    "an agent's recording is sent as a voice note and a song as audio, unless all audio is sent as voice",
    needs("ffmpeg"),
    async () => {
      const { conversation } = await open();
      chatwoot.record(conversation.id, SAMPLE.wav, "wav");
      await story.waitForSent(1);
      const song = { bytes: SAMPLE.wav, type: "audio/wav", file_name: "song.wav" };
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
});

describe("an agent's Retry", () => {
  test("sends a rejected message again, but none that arrived after its failure was reported", async () => {
    await save();
    const conversation = start(REFUSED);
    const reply = chatwoot.write(conversation.id, "hi");
    await waitUntil(() => reply.status === "failed");
    await story.untilIdle();
    expect(reply.content_attributes.external_error).toBe("The network refused the message.");
    expect(await story.sent()).toHaveLength(1);
    chatwoot.retry(reply);
    await story.waitForSent(2);
    await waitUntil(() => reply.status === "failed");
    await story.untilIdle();
    const late = "update message set status = 'delivered' where instance_id = $1 and origin = 'inbox'";
    await query(late, story.shop.id);
    // First the echo of the gateway's own status update, then the agent's Retry.
    reply.content_attributes = { external_error: null };
    await chatwoot.repeat(reply, "message_updated");
    chatwoot.retry(reply);
    await story.untilIdle();
    expect(await story.sent()).toHaveLength(2);
  });

  test("sends only the parts that failed", async () => {
    const { conversation } = await open();
    const reply = chatwoot.write(conversation.id, { content: "see", attachments: [PICTURE, PAPER] });
    const sent = await story.waitForSent(3);
    await waitUntil(() => reply.status === "read");
    await story.untilIdle();
    const failed = sent.at(-1)?.message_id;
    await query("update message set status = 'failed' where message_id = $1", failed);
    await query("update integration_link set status = 'failed' where message_id = $1", failed);
    chatwoot.retry(reply);
    const all = await story.waitForSent(4);
    await story.untilIdle();
    expect(await story.sent()).toHaveLength(4);
    expect(all.at(-1)?.content).toMatchObject({ media_type: "document", file_name: "offer.pdf" });
  });

  test("is requested by a private note in a Chatwoot version that cannot show failed messages", async () => {
    chatwoot.version = "4.1.0";
    await save();
    const conversation = start(REFUSED);
    const reply = chatwoot.write(conversation.id, "hi");
    const note = await story.waitForMessage(({ private: isPrivate }) => isPrivate);
    expect(note).toMatchObject({
      content: "⚠️ The network refused the message.",
      content_attributes: { in_reply_to: reply.id },
    });
    await story.untilIdle();
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
    const conversation = start("+5521977770002");
    chatwoot.write(conversation.id, "never acknowledged");
    const submitted = "select from message where submitted_at is not null and instance_id = $1";
    await waitUntil(async () => (await query(submitted, story.shop.id)).length > 0);
    const waiting = chatwoot.write(conversation.id, "behind it");
    await story.waitForSent(2);
    await end();
    await waitUntil(() => waiting.status === "failed");
    expect(waiting.content_attributes.external_error).toMatch(reason);
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
    await story.untilIdle();
    expect(await words()).toEqual(["not taken"]);
  });

  test("sends a message once its missing attachment is available", async () => {
    const { conversation } = await open();
    chatwoot.faults.missingFiles = 6;
    const reply = chatwoot.write(conversation.id, { content: "see", attachments: [PICTURE] });
    await until(() => reply.status === "failed");
    expect(reply.content_attributes.external_error).toMatch(/responded with 404/);
    chatwoot.retry(reply);
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
    await story.untilIdle();
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
    const reply = chatwoot.write(conversation.id, { content: "later", attachments: [PICTURE] });
    await chatwoot.settled();
    expect(chatwoot.hooks.filter(({ status }) => status !== 200)).toEqual([]);
    // Advances by less than a message may wait for its instance.
    await waitUntil(async () => {
      await story.gateway.advance(20_000);
      return (await story.sent()).length === 1;
    });
    await waitUntil(() => reply.status === "read");
  });

  test("need `files_from_url` if the gateway cannot reach the addresses of their files", async () => {
    const { conversation } = await open();
    chatwoot.faults.frontend = "http://chat.invalid";
    const lost = chatwoot.write(conversation.id, { attachments: [PICTURE] });
    await until(() => lost.status === "failed");
    await save({ files_from_url: true });
    chatwoot.write(conversation.id, { content: "found", attachments: [PICTURE] });
    const [sent] = await story.waitForSent(1);
    expect(sent?.content.caption).toBe("found");
  });
});

describe("Chatwoot settings that change while messages wait", () => {
  test("the same ids in another Chatwoot belong to different messages", async () => {
    const { conversation } = await open();
    chatwoot.write(conversation.id, "from the old one");
    await story.waitForSent(1);
    await story.untilIdle();
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
    const reply = chatwoot.write(conversation.id, "before");
    await story.waitForSent(1);
    await waitUntil(() => reply.status === "read");
    await story.untilIdle();
    const { webhook_url } = chatwoot.inbox;
    await story.remove();
    expect(chatwoot.inbox.webhook_url).toBe("");
    chatwoot.inbox.webhook_url = webhook_url;
    const missed = chatwoot.write(conversation.id, "meanwhile");
    await waitUntil(() => missed.status === "failed");
    chatwoot.inbox.webhook_url = "";
    await save();
    await chatwoot.repeat(reply, "message_updated");
    chatwoot.retry(missed);
    await story.waitForSent(2);
    await story.untilIdle();
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
    await story.untilIdle();
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
    await story.untilIdle();
    expect(await query(sent, second.id)).toEqual([{ text: "by the second" }]);
    expect(await story.sent()).toEqual([]);
    await second.client.deleteIntegration(join);
  });
});
