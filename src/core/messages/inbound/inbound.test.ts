import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../../test/stories/messaging-story.ts";
import type { MessageId } from "../../../network/driver.ts";
import { groupJid } from "../../../network/jid.ts";
import { createSandboxControl } from "../../../network/sandbox/sandbox-control.ts";
import type { SandboxControl } from "../../../network/sandbox-control.ts";

let story: MessagingStory;
/** The network itself, for actions without a control route. */
let network: SandboxControl;

beforeAll(async () => {
  story = await startMessagingStory();
  const { account } = (await story.gateway.owner.me()).data;
  network = createSandboxControl(story.gateway.database.pool, account.id);
});

afterAll(() => story.stop());

const BIA = "5511977771111";
const GROUP = "120363000000000001@g.us";
const jidOf = (phone: string) => `${phone}@s.whatsapp.net`;

type Receive = Parameters<MessagingStory["sales"]["client"]["sandboxReceive"]>[0];

/** Bia writes a message. Returns the resulting event. */
async function receive(input: Partial<Receive>, event = "message.received") {
  const { sales } = story;
  const { data } = await sales.client.sandboxReceive({
    id: sales.id,
    from: BIA,
    push_name: "Bia",
    ...input,
  } as Receive);
  return (await story.event(event, data.message_id)).data;
}

const eventsAbout = (event: string, id: string) =>
  story.receiver.received.filter(
    ({ body }) =>
      body.event === event &&
      body.instance.id === story.sales.id &&
      (body.data.message_id === id ||
        body.data.message?.message_id === id ||
        body.data.message_ids?.includes(id)),
  );

describe("a message from a contact", () => {
  const EVERY = {
    direction: "inbound",
    from_me: false,
    origin: "contact",
    status: "received",
    jid: jidOf(BIA),
    phone: BIA,
    chat_type: "contact",
    is_group: false,
    track_id: null,
  };
  const NOTHING = {
    text: null,
    caption: null,
    quoted: null,
    mentions: [],
    mentioned: [],
    choice: null,
    group_invite: null,
    unsupported: null,
    ad: null,
    is_forwarded: false,
    forwarding_score: 0,
    media: null,
    location: null,
    contacts: null,
  };

  test.each([
    ["text", { text: "Olá" }, { type: "text", text: "Olá" }],
    [
      "content that the gateway cannot read",
      { unsupported: { kind: "placeholder", reason: "masked" as const } },
      { type: "unsupported", unsupported: { kind: "placeholder", reason: "masked" } },
    ],
    [
      "image with a caption",
      {
        media: { base64: inBase64(SAMPLE.png), mime_type: "image/png", caption: "Look", file_name: "a.png" },
      },
      {
        type: "image",
        caption: "Look",
        media: {
          id: expect.stringMatching(/^med_/),
          status: "pending",
          url: expect.stringMatching(/media\/med_/),
          reason: null,
          type: "image",
          mime_type: "image/png",
          file_name: "a.png",
          size: SAMPLE.png.length,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          seconds: null,
        },
      },
    ],
    [
      "voice note",
      { media: { base64: inBase64(SAMPLE.opus), mime_type: "audio/ogg; codecs=opus", type: "ptt" as const } },
      { type: "ptt", media: expect.objectContaining({ type: "ptt", file_name: null }) },
    ],
    [
      "document",
      { media: { base64: `data:application/pdf;base64,${inBase64(SAMPLE.pdf)}` } },
      { type: "document", media: expect.objectContaining({ mime_type: "application/pdf" }) },
    ],
    [
      "location",
      { location: { latitude: -23.5, longitude: -46.6, name: "Home" } },
      { type: "location", location: { latitude: -23.5, longitude: -46.6, name: "Home", address: null } },
    ],
    [
      "contact card",
      { contact: { name: "Ana", phone: "5511988887777" } },
      { type: "contact", contacts: [{ name: "Ana", phone: "5511988887777", vcard: null }] },
    ],
  ])("with a %s fires message.received in the published shape", async (_, input, shown) => {
    const { message, conversation, ...rest } = await receive(input);
    expect(message).toEqual({
      ...EVERY,
      ...NOTHING,
      ...shown,
      id: expect.any(Number),
      message_id: expect.any(String),
      lid: expect.stringMatching(/^\d+@lid$/),
      sender: { jid: jidOf(BIA), lid: message.lid, phone: BIA, push_name: "Bia" },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(conversation).toEqual({
      id: expect.any(Number),
      jid: jidOf(BIA),
      phone: BIA,
      title: "Bia",
      type: "contact",
    });
    expect(rest).toEqual({});
    const { data } = await story.sales.client.getMessage({
      id: story.sales.id,
      messageId: message.message_id,
    });
    // The file may have arrived meanwhile.
    const media = message.media && { ...message.media, status: expect.stringMatching(/^(pending|ready)$/) };
    expect(data).toMatchObject({ ...message, media });
  });

  test("can quote a message of the instance", async () => {
    const { sales } = story;
    const { data } = await sales.client.sendText({ id: sales.id, number: BIA, text: "The blue one?" });
    const { message } = await receive({ reply_to: data.message_id, text: "Yes" });
    expect(message.quoted).toMatchObject({ id: data.message_id, from_me: true, text: "The blue one?" });
  });

  test("that is received twice is stored and reported once", async () => {
    const { sales } = story;
    const id = "3A0TWICE" as MessageId;
    const content = { kind: "text", text: "Once" } as const;
    for (let i = 0; i < 2; i++) await network.receive(sales.phone, { from: BIA, id, content });
    await receive({ text: "after" });
    expect(eventsAbout("message.received", id)).toHaveLength(1);
  });

  test("has the same conversation as the instance's reply to it", async () => {
    const { sales } = story;
    const { conversation } = await receive({ from: "5511977774444", text: "Oi" });
    const { data } = await sales.client.sendText({ id: sales.id, number: "5511977774444", text: "Olá" });
    expect((await story.outcome(data.message_id ?? "")).data.conversation).toEqual(conversation);
  });
});

describe("a message in a group", () => {
  test("has the group as its chat and the author as its sender", async () => {
    const { message, conversation } = await receive({ group_jid: GROUP, text: "Hello all" });
    expect(message).toMatchObject({
      jid: GROUP,
      phone: null,
      lid: null,
      chat_type: "group",
      is_group: true,
      sender: { jid: jidOf(BIA), phone: BIA, push_name: "Bia" },
    });
    expect(conversation).toMatchObject({ jid: GROUP, phone: null, type: "group", title: null });
  });

  test("can be replied to, quoted, reacted to and marked as read", async () => {
    const { sales } = story;
    const { message } = await receive({ group_jid: GROUP, text: "Who comes?" });
    const { data } = await sales.client.sendReply({
      id: sales.id,
      message_id: message.message_id,
      text: "I do",
    });
    expect(data.jid).toBe(GROUP);
    const sent = (await story.outcome(data.message_id ?? "")).data.message;
    expect(sent).toMatchObject({
      is_group: true,
      quoted: { id: message.message_id, from_me: false, sender: jidOf(BIA), text: "Who comes?" },
    });
    await sales.client.react({ id: sales.id, message_id: message.message_id, reaction: "👍" });
    await sales.client.markRead({ id: sales.id, message_id: message.message_id });
    expect((await story.event("message.reaction", message.message_id)).data.jid).toBe(GROUP);
    expect((await story.event("message.read", message.message_id)).data.jid).toBe(GROUP);
  });
});

describe("a message sent from the paired phone", () => {
  test.each([
    ["a text", { text: "From my pocket" }, "text"],
    ["a picture", { media: { base64: inBase64(SAMPLE.png), mime_type: "image/png" } }, "image"],
    ["a location", { location: { latitude: 1, longitude: 1 } }, "location"],
  ])("with %s fires message.sent with origin phone and creates no job", async (_, input, type) => {
    const { message, jobId, pendingMessageId } = await receive({ from_me: true, ...input }, "message.sent");
    expect(message).toMatchObject({
      type,
      direction: "outbound",
      from_me: true,
      origin: "phone",
      status: "sent",
      jid: jidOf(BIA),
      phone: BIA,
      sender: { phone: story.sales.phone },
    });
    expect([jobId, pendingMessageId]).toEqual([undefined, undefined]);
  });

  test("does not rename the chat", async () => {
    const person = "5511977775555";
    await receive({ from: person, push_name: "Caio", text: "Oi" });
    const { conversation } = await receive(
      { from: person, from_me: true, push_name: "Me", text: "Olá" },
      "message.sent",
    );
    expect(conversation.title).toBe("Caio");
  });

  test("is delivered and read like one sent through the API", async () => {
    const { sales } = story;
    const { message } = await receive({ from_me: true, text: "Seen?" }, "message.sent");
    await sales.client.sandboxRead({ id: sales.id, from: BIA, message_id: message.message_id });
    expect((await story.event("message.read", message.message_id)).data).toMatchObject({
      direction: "outbound",
    });
  });

  test("is not reported a second time if it is the echo of an API send", async () => {
    const { sales } = story;
    const { data } = await sales.client.sendText({ id: sales.id, number: BIA, text: "By API" });
    const id = data.message_id as MessageId;
    await story.outcome(id);
    await network.receive(sales.phone, {
      from: BIA,
      from_me: true,
      id,
      content: { kind: "text", text: "By API" },
    });
    await receive({ text: "after" });
    expect(eventsAbout("message.sent", id)).toHaveLength(1);
    const message = (await sales.client.getMessage({ id: sales.id, messageId: id })).data;
    expect(message.origin).toBe("api");
  });
});

describe("actions of a contact", () => {
  const act = { from: BIA, push_name: "Bia" };
  const bia = { jid: jidOf(BIA), phone: BIA, push_name: "Bia", lid: expect.stringMatching(/@lid$/) };

  test("an edit changes the log and fires message.edited", async () => {
    const { sales } = story;
    const { message } = await receive({ text: "Helo" });
    await sales.client.sandboxEdit({ id: sales.id, ...act, message_id: message.message_id, text: "Hello" });
    expect((await story.event("message.edited", message.message_id)).data).toMatchObject({
      message_id: message.message_id,
      text: "Hello",
      by: bia,
      jid: jidOf(BIA),
      message: { id: message.id, text: "Hello" },
    });
    const { data } = await sales.client.getMessage({ id: sales.id, messageId: message.message_id });
    expect(data.text).toBe("Hello");
  });

  test("a deletion fires message.deleted once", async () => {
    const { sales } = story;
    const { message } = await receive({ text: "Oops" });
    const id = message.message_id as MessageId;
    for (let i = 0; i < 2; i++) await network.delete(sales.phone, { ...act, message_id: id });
    expect((await story.event("message.deleted", id)).data).toMatchObject({ message_id: id, by: bia });
    await receive({ text: "after" });
    expect(eventsAbout("message.deleted", id)).toHaveLength(1);
  });

  test.each([
    ["👍", false],
    ["", true],
  ])("a reaction %j to a message of the instance fires message.reaction", async (reaction, removed) => {
    const { sales } = story;
    const { data } = await sales.client.sendText({ id: sales.id, number: BIA, text: "Good?" });
    const id = data.message_id ?? "";
    await sales.client.sandboxReact({ id: sales.id, ...act, message_id: id, reaction });
    expect((await story.event("message.reaction", id)).data).toMatchObject({
      message_id: id,
      reaction,
      removed,
      sender: bia,
      message: { from_me: true },
    });
  });

  test("reading the instance's message fires message.read, and its status never goes back", async () => {
    const { sales } = story;
    const quiet = "5511977770003";
    const { data } = await sales.client.sendText({ id: sales.id, number: quiet, text: "Read me" });
    const id = data.message_id ?? "";
    await story.event("message.delivered", id);
    await sales.client.sandboxRead({ id: sales.id, from: quiet, message_id: id });
    expect((await story.event("message.read", id)).data).toMatchObject({
      message_ids: [id],
      jid: jidOf(quiet),
      direction: "outbound",
      at: expect.stringMatching(/Z$/),
    });
    await sales.client.sandboxRead({ id: sales.id, from: quiet, message_id: id });
    await receive({ from: quiet, text: "after" });
    expect(eventsAbout("message.read", id)).toHaveLength(1);
    expect((await sales.client.getMessage({ id: sales.id, messageId: id })).data.status).toBe("read");
  });

  test("several messages read together are reported in one event", async () => {
    const { sales } = story;
    const quiet = "5511977780003";
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) {
      const { data } = await sales.client.sendText({ id: sales.id, number: quiet, text });
      ids.push(data.message_id ?? "");
    }
    for (const id of ids) await story.event("message.delivered", id);
    await sales.client.sandboxRead({ id: sales.id, from: quiet, message_ids: ids });
    expect((await story.event("message.read", ids[2] ?? "")).data.message_ids.toSorted()).toEqual(
      ids.toSorted(),
    );
  });

  test("an action on a message that is not in the log is reported without the message", async () => {
    const { sales } = story;
    await sales.client.sandboxReact({ id: sales.id, ...act, message_id: "3A0BEFORE", reaction: "👍" });
    const { data } = await story.event("message.reaction", "3A0BEFORE");
    expect(data).toMatchObject({ message_id: "3A0BEFORE", jid: jidOf(BIA), sender: bia });
    expect(data.message).toBeUndefined();
  });
});

describe("actions of the paired phone", () => {
  const act = () => ({ id: story.sales.id, from: BIA, from_me: true });
  const me = () => ({ phone: story.sales.phone });

  test("edits, reactions and deletions on the phone are reported like a contact's", async () => {
    const { client } = story.sales;
    const { data } = await client.sendText({ id: story.sales.id, number: BIA, text: "Helo" });
    const message_id = data.message_id ?? "";
    await client.sandboxEdit({ ...act(), message_id, text: "Hello" });
    expect((await story.event("message.edited", message_id)).data).toMatchObject({ text: "Hello", by: me() });
    await client.sandboxReact({ ...act(), message_id, reaction: "🙂" });
    expect((await story.event("message.reaction", message_id)).data).toMatchObject({ sender: me() });
    await client.sandboxDelete({ ...act(), message_id });
    expect((await story.event("message.deleted", message_id)).data).toMatchObject({ by: me() });
  });

  test("reading a contact's message on the phone fires message.read as inbound once", async () => {
    const { client } = story.sales;
    const { message } = await receive({ text: "Read by the phone" });
    const { message_id } = message;
    await client.sandboxRead({ ...act(), message_id });
    expect((await story.event("message.read", message_id)).data).toMatchObject({
      message_ids: [message_id],
      direction: "inbound",
      message: { status: "received", from_me: false },
    });
    await client.sandboxRead({ ...act(), message_id });
    await client.markRead({ id: story.sales.id, message_id });
    await receive({ text: "after" });
    expect(eventsAbout("message.read", message_id)).toHaveLength(1);
  });
});

test("events during a disconnection are reported after the reconnection", async () => {
  const { sales } = story;
  await sales.client.sandboxDrop({ id: sales.id });
  const ids = ["3A0AWAY1", "3A0AWAY2"] as MessageId[];
  for (const id of ids) {
    await network.receive(sales.phone, { from: BIA, id, content: { kind: "text", text: id } });
  }
  // A group message has the same id in the logs of two instances.
  await network.receive(sales.phone, {
    from: BIA,
    group_jid: groupJid("120363000000000002"),
    id: ids[0],
    content: { kind: "text", text: "all" },
  });
  await waitUntil(
    () =>
      eventsAbout("message.received", "3A0AWAY1").length >= 2 &&
      eventsAbout("message.received", "3A0AWAY2").length > 0,
  );
  const [first] = eventsAbout("message.received", "3A0AWAY2");
  expect(first?.body.data.message.text).toBe("3A0AWAY2");
  expect(
    eventsAbout("message.received", "3A0AWAY1")
      .map(({ body }) => body.data.message.chat_type)
      .toSorted(),
  ).toEqual(["contact", "group"]);
});
