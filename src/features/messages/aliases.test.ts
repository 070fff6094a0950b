import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FileServer, file, startFileServer } from "../../../test/file-server.ts";
import { type MessagingStory, startMessagingStory } from "../../../test/messaging-story.ts";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";

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
const photo = () => files.at("/photo.png");

type Body = Record<string, unknown>;

const post = (route: string, body: Body) =>
  story.request(`POST /api/v1/instances/${story.sales.id}/${route}`, body);

/** The message in the log after an async send with this body. */
async function queue(route: string, body: Body) {
  const path = route === "send" ? "POST /api/v1/send" : `POST /api/v1/instances/${story.sales.id}/${route}`;
  const response = await story.request(path, { async: true, ...body });
  expect(response.body).toMatchObject({ success: true, queued: true });
  const { id } = response.body.data.message;
  const { data } = await story.sales.client.getMessage({ id: story.sales.id, messageId: String(id) });
  return data;
}

describe("the recipient", () => {
  test.each([
    ["number", PHONE, JID],
    ["phone", PHONE, JID],
    ["jid", JID, JID],
    ["to", PHONE, JID],
    ["chatId", `${PHONE}@c.us`, JID],
    ["chat_id", PHONE, JID],
    ["remoteJid", JID, JID],
    ["recipient", PHONE, JID],
    ["Phone", PHONE, JID],
    ["groupJid", GROUP, GROUP],
    ["group_id", GROUP, GROUP],
    ["number", 5511988881111, JID],
    ["number", "+55 (11) 98888-1111", JID],
    ["number", "55.11.98888.1111", JID],
    ["number", `${PHONE}:12@s.whatsapp.net`, JID],
    ["jid", "120363000000000001-1423@g.us", "120363000000000001-1423@g.us"],
    ["jid", "190000000000001@lid", "190000000000001@lid"],
  ])("may be named in the field %s: %s", async (name, value, jid) => {
    const message = await queue("send-text", { [name]: value, text: "Hi" });
    expect(message.jid).toBe(jid);
    expect(message.phone).toBe(jid === JID ? PHONE : null);
  });

  test.each([
    ["jid wins over number", { jid: JID, number: "5511900000007" }],
    ["number wins over phone", { number: PHONE, phone: "5511900000007" }],
    ["number wins over its aliases", { number: PHONE, to: "5511900000007", chatId: "5511900000017@c.us" }],
    ["an alias counts where the field itself is null", { number: null, to: PHONE }],
  ])("%s", async (_, target) => {
    expect((await queue("send-text", { ...target, text: "Hi" })).jid).toBe(JID);
  });
});

describe("a text", () => {
  test.each([
    [{ text: "Hi" }],
    [{ message: "Hi" }],
    [{ body: "Hi" }],
    [{ Body: "Hi" }],
    [{ textMessage: { text: "Hi" } }],
    [{ text: "Hi", message: "Ho", body: "Ho" }],
  ])("may be given as %j", async (words) => {
    for (const route of ["send-text", "send"]) {
      expect((await queue(route, { number: PHONE, ...words })).text).toBe("Hi");
    }
  });

  test.each([
    ["client_message_id", "clientMessageId", "mine"],
    ["track_id", "trackId", "order-7"],
  ])("accepts %s also as %s", async (name, alias, value) => {
    for (const [spelling, text] of [
      [name, "one"],
      [alias, "two"],
    ] as const) {
      const message = await queue("send-text", { number: PHONE, text, [spelling]: value + text });
      expect(message).toMatchObject({ [name]: value + text });
    }
  });

  test.each(["reply_to", "replyTo", "replyid", "quoted_message_id", "quoted"])("quotes %s", async (name) => {
    const { data } = await story.sales.client.sendText({ id: story.sales.id, number: PHONE, text: "First" });
    const value = name === "quoted" ? { key: { id: data.message_id } } : data.message_id;
    const message = await queue("send-text", { number: PHONE, text: "Second", [name]: value });
    expect(message.quoted).toMatchObject({ id: data.message_id, text: "First" });
  });

  test.each(["mentions", "mentioned"])("mentions the people in %s", async (name) => {
    expect((await queue("send-text", { number: PHONE, text: "@Bia", [name]: [PHONE] })).mentions).toEqual([
      JID,
    ]);
  });
});

describe("media", () => {
  const SOURCES = {
    address: () => photo(),
    "data URI": () => `data:image/png;base64,${PNG}`,
    base64: () => PNG,
  };

  test.each([
    ["url", "address"],
    ["url", "data URI"],
    ["mediaUrl", "address"],
    ["base64", "base64"],
    ["base64", "data URI"],
    ["media_url", "address"],
    ["link", "address"],
    ["link", "base64"],
    ["file", "address"],
    ["file", "data URI"],
    ["media", "base64"],
    ["data", "base64"],
    ["data", "address"],
  ] as const)("may be given in %s as %s", async (name, source) => {
    for (const route of ["send-media", "send"]) {
      const message = await queue(route, { number: PHONE, type: "image", [name]: SOURCES[source]() });
      expect(message).toMatchObject({
        type: "image",
        media: { size: SAMPLE.png.length, mime_type: "image/png" },
      });
    }
  });

  test.each(["file", "media", "upload", ""])("may be a form part with the name %j", async (name) => {
    const form = new FormData();
    form.append("number", PHONE);
    form.append("caption", "Today");
    form.append("async", "true");
    form.append(name, new Blob([Uint8Array.from(SAMPLE.png)], { type: "image/png" }), "photo.png");
    const response = await fetch(`${story.gateway.url}/api/v1/instances/${story.sales.id}/send-media`, {
      method: "POST",
      headers: { "x-api-key": story.sales.api_key },
      body: form,
    });
    expect(response.status).toBe(202);
  });

  test.each([
    [{ type: "document" }, { type: "document" }],
    [{ mediatype: "document" }, { type: "document" }],
    [{ media_type: "document" }, { type: "document" }],
    [{ mime_type: "image/png" }, { mime_type: "image/png" }],
    [{ mimeType: "image/png" }, { mime_type: "image/png" }],
    [{ mimetype: "image/png" }, { mime_type: "image/png" }],
    [{ file_name: "a.png" }, { file_name: "a.png" }],
    [{ fileName: "a.png" }, { file_name: "a.png" }],
    [{ filename: "a.png" }, { file_name: "a.png" }],
    [{ docName: "a.png" }, { file_name: "a.png" }],
  ])("accept %j", async (input, expected) => {
    for (const route of ["send-media", "send"]) {
      expect((await queue(route, { number: PHONE, base64: PNG, ...input })).media).toMatchObject(expected);
    }
  });

  test.each([[{ caption: "Today" }], [{ text: "Today" }], [{ caption: "Today", text: "Tomorrow" }]])(
    "have the caption from %j",
    async (words) => {
      for (const route of ["send-media", "send"]) {
        const message = await queue(route, { number: PHONE, base64: PNG, ...words });
        expect(message).toMatchObject({ type: "image", caption: "Today", text: null });
      }
    },
  );

  test.each([[{ ptt: true }], [{ type: "ptt" }], [{ type: "audio", ptt: true }]])(
    "are sent as a voice note with %j",
    async (input) => {
      for (const route of ["send-media", "send"]) {
        expect((await queue(route, { number: PHONE, base64: inBase64(SAMPLE.opus), ...input })).type).toBe(
          "ptt",
        );
      }
    },
  );
});

describe("a contact card", () => {
  const card = { name: "Ana", phone: "5511977772222" };

  test.each([
    [card],
    [{ fullName: "Ana", phoneNumber: card.phone }],
    [{ contact_name: "Ana", contact_phone: "+55 11 97777-2222" }],
    [{ contact: card }],
    [{ vcard: "BEGIN:VCARD\nVERSION:4.0\nFN:Ana\nTEL;VALUE=uri:tel:+55-11-97777-2222\nEND:VCARD" }],
  ])("may be given as %j", async (input) => {
    for (const route of ["send-contact", "send"]) {
      const message = await queue(route, { number: PHONE, ...input });
      expect([message.jid, message.contacts]).toEqual([JID, [{ ...card, vcard: null }]]);
    }
  });

  test("needs a recipient besides `phone`", async () => {
    const response = await post("send-contact", card);
    expect(response.body).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "number" }] },
    });
  });
});

describe("a location", () => {
  test.each([[{ latitude: -23.5, longitude: 46 }], [{ latitude: "-23.5", longitude: "46" }]])(
    "may be given as %j",
    async (place) => {
      for (const route of ["send-location", "send"]) {
        const message = await queue(route, { number: PHONE, ...place, name: "Shop", address: "Rua A" });
        expect(message.location).toEqual({ latitude: -23.5, longitude: 46, name: "Shop", address: "Rua A" });
      }
    },
  );
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
  const spellings: [string, (id: string, remoteJid?: string, fromMe?: boolean) => Body][] = [
    ["message_id", (id) => ({ message_id: id })],
    ["id", (id) => ({ id })],
    ["messageId", (id) => ({ messageId: id })],
    ["key.id", (id, remoteJid = JID, fromMe = true) => ({ key: { id, remoteJid, fromMe } })],
  ];

  test.each(spellings)("may be named by %s", async (_, name) => {
    const id = await sent();
    const expected = (status: string) => ({ success: true, data: { message_id: id, jid: JID, status } });
    expect((await post("messages/react", { ...name(id), reaction: "👍" })).body).toMatchObject(
      expected("sent"),
    );
    expect((await post("messages/edit", { ...name(id), text: "Hi" })).body).toMatchObject(expected("edited"));
    expect((await post("send-reply", { ...name(id), text: "Yes" })).body.success).toBe(true);
    expect((await post("messages/download", name(id))).body.code).toBe("VALIDATION_ERROR");
    expect((await post("messages/delete", name(id))).body).toMatchObject(expected("deleted"));
  });

  test.each(spellings)("may be named by %s when it is marked as read", async (_, name) => {
    const id = await received();
    const jid = `${story.friend.phone}@s.whatsapp.net`;
    const { body } = await post("messages/read", name(id, jid, false));
    expect(body).toMatchObject({ success: true, data: { message_id: id, jid, status: "read" } });
  });

  test.each([
    ["reaction", "👍"],
    ["emoji", "👍"],
    ["text", "👍"],
    ["text", ""],
  ])("gets a reaction by %s: %j", async (name, value) => {
    const id = await sent();
    expect((await post("messages/react", { message_id: id, [name]: value })).status).toBe(200);
    const [act] = await story.ledger({ action: "react", target_id: id });
    expect(act?.content).toEqual({ reaction: value });
  });

  test.each(["text", "message", "body", "Body"])("gets a new text by %s", async (name) => {
    const id = await sent();
    expect((await post("messages/edit", { message_id: id, [name]: "New" })).status).toBe(200);
    expect((await story.ledger({ action: "edit", target_id: id }))[0]?.content).toEqual({ text: "New" });
  });

  test.each(["message_ids", "messageIds", "ids", "message_id", "id"])(
    "may be one of several in %s",
    async (name) => {
      const ids = [await received(), await received()];
      const { body } = await post("messages/read", { [name]: ids });
      const jid = `${story.friend.phone}@s.whatsapp.net`;
      expect(body.data).toMatchObject({ message_ids: ids, jid });
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
    const { body } = await post("presence", { number: PHONE, [name]: value });
    expect(body.data).toEqual({ presence: shown, jid: JID });
    expect((await story.ledger({ action: "presence" })).at(-1)).toMatchObject({ kind: shown, chat: JID });
  });

  test.each(["available", "unavailable"])("for the whole account needs no chat: %s", async (presence) => {
    expect((await post("presence", { presence })).body.data).toEqual({ presence, jid: null });
  });
});
