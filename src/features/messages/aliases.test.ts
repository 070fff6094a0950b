import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import { type FileServer, file, startFileServer } from "../../../test/servers/file-server.ts";
import { type MessagingStory, startMessagingStory } from "../../../test/stories/messaging-story.ts";

let story: MessagingStory;
let files: FileServer;

beforeAll(async () => {
  story = await startMessagingStory();
  files = await startFileServer();
  files.serve("/photo.png", file(SAMPLE.png, "image/png"));
});

afterAll(async () => {
  await files.close();
  await story.stop();
});

const PHONE = "5511988881111";
const JID = `${PHONE}@s.whatsapp.net`;
const GROUP = "120363000000000001@g.us";
const PNG = inBase64(SAMPLE.png);
const OPUS = inBase64(SAMPLE.opus);

type Body = Record<string, unknown>;

const post = async (route: string, body: Body) => {
  const path = route === "send" ? "POST /api/v1/send" : `POST /api/v1/instances/${story.sales.id}/${route}`;
  return (await story.request(path, body)).body;
};

/** The message in the log after an async send with this body. */
async function queue(route: string, body: Body) {
  const response = await post(route, { async: true, ...body });
  expect(response).toMatchObject({ success: true, queued: true });
  const { id } = response.data.message;
  const { data } = await story.sales.client.getMessage({ id: story.sales.id, messageId: String(id) });
  return data;
}

describe("the recipient", () => {
  test.each<[string, Body, string]>([
    ["by number", { number: PHONE }, JID],
    ["by phone", { phone: PHONE }, JID],
    ["by jid", { jid: JID }, JID],
    ["by to", { to: PHONE }, JID],
    ["by chatId of another gateway", { chatId: `${PHONE}@c.us` }, JID],
    ["by chat_id", { chat_id: PHONE }, JID],
    ["by remoteJid", { remoteJid: JID }, JID],
    ["by recipient", { recipient: PHONE }, JID],
    ["by Phone", { Phone: PHONE }, JID],
    ["by groupJid", { groupJid: GROUP }, GROUP],
    ["by group_id", { group_id: GROUP }, GROUP],
    ["as a JSON number", { number: 5511988881111 }, JID],
    ["with spaces and signs", { number: "+55 (11) 98888-1111" }, JID],
    ["with dots", { number: "55.11.98888.1111" }, JID],
    ["with a device", { number: `${PHONE}:12@s.whatsapp.net` }, JID],
    ["as an old group", { jid: "120363000000000001-1423@g.us" }, "120363000000000001-1423@g.us"],
    ["as a LID", { jid: "190000000000001@lid" }, "190000000000001@lid"],
    ["by jid rather than number", { jid: JID, number: "5511900000007" }, JID],
    ["by number rather than phone", { number: PHONE, phone: "5511900000007" }, JID],
    ["by number rather than an alias", { number: PHONE, to: "5511900000007", chatId: "5511900000017" }, JID],
    ["by an alias if the field itself is null", { number: null, to: PHONE }, JID],
  ])("may be named %s", async (_, target, jid) => {
    expect(await queue("send-text", { ...target, text: "Hi" })).toMatchObject({
      jid,
      phone: jid === JID ? PHONE : null,
    });
  });
});

describe("the content of a send", () => {
  const photo = { type: "image", media: { size: SAMPLE.png.length, mime_type: "image/png" } };
  const dataUri = `data:image/png;base64,${PNG}`;
  const CARD = { name: "Ana", phone: "5511977772222" };
  const place = { latitude: -23.5, longitude: 46, name: "Shop", address: "Rua A" };

  /** Stands for the address of the photo. */
  const ADDRESS = "its address";

  const INPUTS: [string, Body, object][] = [
    ["send-text", { text: "Hi" }, { text: "Hi" }],
    ["send-text", { message: "Hi" }, { text: "Hi" }],
    ["send-text", { body: "Hi" }, { text: "Hi" }],
    ["send-text", { Body: "Hi" }, { text: "Hi" }],
    ["send-text", { textMessage: { text: "Hi" } }, { text: "Hi" }],
    ["send-text", { text: "Hi", message: "Ho", body: "Ho" }, { text: "Hi" }],
    ["send-media", { url: ADDRESS }, photo],
    ["send-media", { url: dataUri }, photo],
    ["send-media", { mediaUrl: ADDRESS }, photo],
    ["send-media", { media_url: ADDRESS }, photo],
    ["send-media", { link: ADDRESS }, photo],
    ["send-media", { base64: PNG }, photo],
    ["send-media", { base64: dataUri }, photo],
    ["send-media", { file: dataUri }, photo],
    ["send-media", { media: PNG }, photo],
    ["send-media", { data: PNG }, photo],
    ["send-media", { base64: PNG, type: "document" }, { media: { type: "document" } }],
    ["send-media", { base64: PNG, mediatype: "document" }, { media: { type: "document" } }],
    ["send-media", { base64: PNG, media_type: "document" }, { media: { type: "document" } }],
    ["send-media", { base64: PNG, mime_type: "image/png" }, photo],
    ["send-media", { base64: PNG, mimeType: "image/png" }, photo],
    ["send-media", { base64: PNG, mimetype: "image/png" }, photo],
    ["send-media", { base64: PNG, file_name: "a.png" }, { media: { file_name: "a.png" } }],
    ["send-media", { base64: PNG, fileName: "a.png" }, { media: { file_name: "a.png" } }],
    ["send-media", { base64: PNG, filename: "a.png" }, { media: { file_name: "a.png" } }],
    ["send-media", { base64: PNG, docName: "a.png" }, { media: { file_name: "a.png" } }],
    ["send-media", { base64: PNG, caption: "Today" }, { caption: "Today", text: null }],
    ["send-media", { base64: PNG, text: "Today" }, { caption: "Today", text: null }],
    ["send-media", { base64: PNG, caption: "Today", text: "Tomorrow" }, { caption: "Today", text: null }],
    ["send-media", { base64: OPUS, ptt: true }, { type: "ptt" }],
    ["send-media", { base64: OPUS, type: "ptt" }, { type: "ptt" }],
    ["send-media", { base64: OPUS, type: "audio", ptt: true }, { type: "ptt" }],
    ["send-contact", CARD, { contacts: [{ ...CARD, vcard: null }] }],
    ["send-contact", { fullName: "Ana", phoneNumber: CARD.phone }, { contacts: [CARD] }],
    ["send-contact", { contact_name: "Ana", contact_phone: "+55 11 97777-2222" }, { contacts: [CARD] }],
    ["send-contact", { contact: CARD }, { contacts: [CARD] }],
    [
      "send-contact",
      { vcard: "BEGIN:VCARD\nVERSION:4.0\nFN:Ana\nTEL;VALUE=uri:tel:+55-11-97777-2222\nEND:VCARD" },
      { contacts: [CARD] },
    ],
    ["send-location", place, { location: place }],
    ["send-location", { ...place, latitude: "-23.5", longitude: "46" }, { location: place }],
  ];
  const shown = (body: Body) => JSON.stringify(body, (_, value) => value.slice?.(0, 20) ?? value);

  test.each(INPUTS.map(([route, body, expected]) => [route, shown(body), body, expected] as const))(
    "may be given to %s, and to the generic send, as %s",
    async (route, _, input, expected) => {
      const replaced = Object.entries(input).map(([name, value]) => [
        name,
        value === ADDRESS ? files.at("/photo.png") : value,
      ]);
      const body = Object.fromEntries(replaced);
      for (const one of [route, "send"])
        expect(await queue(one, { number: PHONE, ...body })).toMatchObject({ jid: JID, ...expected });
    },
  );

  test.each(["file", "media", "upload", ""])("may be a form part with the name %j", async (name) => {
    const form = new FormData();
    for (const [field, value] of Object.entries({ number: PHONE, caption: "Today", async: "true" }))
      form.append(field, value);
    form.append(name, new Blob([Uint8Array.from(SAMPLE.png)], { type: "image/png" }), "photo.png");
    const response = await fetch(`${story.gateway.url}/api/v1/instances/${story.sales.id}/send-media`, {
      method: "POST",
      headers: { "x-api-key": story.sales.api_key },
      body: form,
    });
    expect(response.status).toBe(202);
  });

  test("of a contact card needs a recipient besides `phone`", async () => {
    expect(await post("send-contact", CARD)).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "number" }] },
    });
  });
});

describe("an option of a send", () => {
  test.each<[Body, object]>([
    [{ client_message_id: "mine 1" }, { client_message_id: "mine 1" }],
    [{ clientMessageId: "mine 2" }, { client_message_id: "mine 2" }],
    [{ track_id: "order-7" }, { track_id: "order-7" }],
    [{ trackId: "order-7" }, { track_id: "order-7" }],
    [{ mentions: [PHONE] }, { mentions: [JID] }],
    [{ mentioned: [PHONE] }, { mentions: [JID] }],
  ])("may be given as %j", async (option, expected) => {
    expect(await queue("send-text", { number: PHONE, text: "@Bia", ...option })).toMatchObject(expected);
  });

  test("may name the message to quote in five fields", async () => {
    const { data } = await story.sales.client.sendText({ id: story.sales.id, number: PHONE, text: "First" });
    const id = data.message_id;
    const named = [{ reply_to: id }, { replyTo: id }, { replyid: id }, { quoted_message_id: id }];
    for (const option of [...named, { quoted: { key: { id } } }])
      expect(await queue("send-text", { number: PHONE, text: "Second", ...option })).toMatchObject({
        quoted: { id, text: "First" },
      });
  });
});

describe("the message that an action applies to", () => {
  const sent = async () => {
    const { sales } = story;
    const { data } = await sales.client.sendText({ id: sales.id, number: PHONE, text: "Hello" });
    return data.message_id ?? "";
  };
  const received = async () => {
    const { sales, friend } = story;
    const { data } = await friend.client.sendText({ id: friend.id, number: sales.phone, text: "Hello" });
    const id = data.message_id ?? "";
    await story.event("message.received", id);
    return id;
  };
  const friendJid = () => `${story.friend.phone}@s.whatsapp.net`;

  test.each<[string, (id: string, remoteJid: string, fromMe: boolean) => Body]>([
    ["message_id", (id) => ({ message_id: id })],
    ["id", (id) => ({ id })],
    ["messageId", (id) => ({ messageId: id })],
    ["key.id", (id, remoteJid, fromMe) => ({ key: { id, remoteJid, fromMe } })],
  ])("may be named by %s", async (_, name) => {
    const id = await sent();
    const own = name(id, JID, true);
    const done = (status: string) => ({ success: true, data: { message_id: id, jid: JID, status } });
    expect(await post("messages/react", { ...own, reaction: "👍" })).toMatchObject(done("sent"));
    expect(await post("messages/edit", { ...own, text: "Hi" })).toMatchObject(done("edited"));
    expect((await post("send-reply", { ...own, text: "Yes" })).success).toBe(true);
    expect((await post("messages/download", own)).code).toBe("VALIDATION_ERROR");
    expect(await post("messages/delete", own)).toMatchObject(done("deleted"));
    const theirs = await received();
    expect((await post("messages/read", name(theirs, friendJid(), false))).data).toMatchObject({
      message_id: theirs,
      jid: friendJid(),
      status: "read",
    });
  });

  test("gets a reaction by several names, and loses it by an empty text", async () => {
    for (const reaction of [{ reaction: "👍" }, { emoji: "👍" }, { text: "👍" }, { text: "" }]) {
      const id = await sent();
      expect((await post("messages/react", { message_id: id, ...reaction })).success).toBe(true);
      const [act] = await story.ledger({ action: "react", target_id: id });
      expect(act?.content).toEqual({ reaction: Object.values(reaction)[0] });
    }
  });

  test.each(["text", "message", "body", "Body"])("gets a new text by %s", async (name) => {
    const id = await sent();
    expect((await post("messages/edit", { message_id: id, [name]: "New" })).success).toBe(true);
    expect((await story.ledger({ action: "edit", target_id: id }))[0]?.content).toEqual({ text: "New" });
  });

  test.each(["message_ids", "messageIds", "ids", "message_id", "id"])(
    "may be one of several in %s",
    async (name) => {
      const ids = [await received(), await received()];
      const { data } = await post("messages/read", { [name]: ids });
      expect(data).toMatchObject({ message_ids: ids, jid: friendJid() });
    },
  );
});

describe("a presence request", () => {
  test.each([
    ["presence", "typing", "typing"],
    ["state", "composing", "typing"],
    ["type", "recording", "recording"],
    ["status", "recording_audio", "recording"],
    ["presence", "paused", "paused"],
  ])("may have its state in the field %s: %s", async (name, value, shown) => {
    expect((await post("presence", { number: PHONE, [name]: value })).data).toEqual({
      presence: shown,
      jid: JID,
    });
    expect((await story.ledger({ action: "presence" })).at(-1)).toMatchObject({ kind: shown, chat: JID });
  });

  test.each(["available", "unavailable"])("for the whole account needs no chat: %s", async (presence) => {
    expect((await post("presence", { presence })).data).toEqual({ presence, jid: null });
  });
});
