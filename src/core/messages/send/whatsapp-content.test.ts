import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { mp4Video } from "../../../../test/media-samples.ts";
import { SAMPLE } from "../../../../test/sample-files.ts";
import { type FileServer, file, startFileServer } from "../../../../test/servers/file-server.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";
import type { PersonInfo, SentContent } from "../../../../test/whatsapp-server/control.ts";
import type { Client } from "../../../client/client.ts";

let on: WhatsAppGateway;
let client: Client;
let id: number;
let me: string;
let ana: PersonInfo;
let bia: PersonInfo;
let group: string;

beforeAll(async () => {
  on = await startWhatsAppGateway(undefined, {}, async (control) => {
    [ana, bia] = [await control.addPerson({ name: "Ana" }), await control.addPerson({ name: "Bia" })];
    const messages = [{ id: "3EB0OLD", text: "Last week", at: Date.now() - 6e8 }];
    await control.settings({ history: [{ chat: ana.phone, messages }] });
  });
  ({ id, client, phone: me } = on.instance);
  group = (await on.control.addGroup("Team", [me, ana.phone, bia.phone], { addressing: "lid" })).jid;
});
afterAll(() => on.stop());

/** Data of the instance's events of this name, oldest first. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of it
async function events(name: string): Promise<any[]> {
  const rows = await on.gateway.database.db
    .selectFrom("event")
    .select("body")
    .where("instance_id", "=", id)
    .where("event", "=", name)
    .orderBy("sequence")
    .execute();
  return rows.map(({ body }) => JSON.parse(body.toString()).data);
}

/** The message in `message.received`. */
async function received(from: PersonInfo, to: string, said: SentContent | string) {
  const message_id = await on.control.sendMessage(from.phone, to, said);
  const find = async () =>
    (await events("message.received")).find(({ message }) => message.message_id === message_id);
  await waitUntil(async () => (await find()) !== undefined);
  return (await find()).message;
}

/** The message that Ana's phone received. */
async function arrived(message_id = ""): Promise<Record<string, unknown>> {
  await waitUntil(async () => (await on.control.message(ana.phone, message_id)) !== undefined);
  return (await on.control.message(ana.phone, message_id)) ?? {};
}

test("a PDF carries its page count for phones", async () => {
  const pdf = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Pages/Kids[2 0 R]/Count 3>>endobj\n%%EOF");
  const base64 = pdf.toString("base64");
  const { data } = await client.sendMedia({ id, number: ana.phone, base64, file_name: "offer.pdf" });
  expect(await arrived(data.message_id)).toMatchObject({
    documentMessage: { mimetype: "application/pdf", pageCount: 3 },
  });
});

test("a video note is sent as one, whether its type or a field says so", async () => {
  const base64 = mp4Video({ width: 240, height: 240, seconds: 3 }).toString("base64");
  for (const note of [{ type: "ptv" as const }, { ptv: true }]) {
    const { data } = await client.sendMedia({ id, number: ana.phone, base64, ...note });
    const message = await arrived(data.message_id);
    expect(message).toMatchObject({ ptvMessage: { mimetype: "video/mp4", width: 240, seconds: 3 } });
    expect(message).not.toHaveProperty("videoMessage");
  }
});

test("a given vCard keeps its phones, company and e-mail, and each phone offers a chat", async () => {
  const vcard = [
    "BEGIN:VCARD",
    "VERSION:3.0",
    "FN:Bia Souza",
    "ORG:Padaria Real;Sales",
    "TEL;TYPE=WORK:+55 11 97777-2222",
    "item1.TEL;waid=5511966663333:+55 11 96666-3333",
    "TEL:0800 123",
    "EMAIL:bia@padaria.example",
    "END:VCARD",
  ];
  const { data } = await client.sendContact({ id, number: ana.phone, vcard: vcard.join("\r\n") });
  const card = vcard.with(4, "TEL;TYPE=WORK;waid=5511977772222:+55 11 97777-2222").join("\n");
  expect(await arrived(data.message_id)).toMatchObject({
    contactMessage: { displayName: "Bia Souza", vcard: card },
  });
});

test("several contact cards, whole or as fields, go out in one message in their order", async () => {
  const davi = "BEGIN:VCARD\nVERSION:3.0\nFN:Davi\nTEL:+55 11 96666-3333\nEND:VCARD";
  const contact = [{ name: "Caio", phone: "5511977772222" }, { vcard: davi }];
  const { data } = await client.sendContact({ id, number: ana.phone, contact });
  expect(await arrived(data.message_id)).toMatchObject({
    contactsArrayMessage: {
      displayName: "2 contacts",
      contacts: [
        { displayName: "Caio", vcard: expect.stringContaining("waid=5511977772222") },
        { displayName: "Davi", vcard: expect.stringContaining("waid=5511966663333") },
      ],
    },
  });
});

describe("a reply", () => {
  test("contains what it quotes, without the key of the file", async () => {
    const bytes = Buffer.from("OggS voice");
    const voice = {
      kind: "media",
      media_type: "ptt",
      mime_type: "audio/ogg; codecs=opus",
      seconds: 4,
      bytes,
    } as const;
    const { message_id } = await received(ana, me, voice);
    const { data } = await client.sendReply({ id, message_id, text: "Heard it" });
    const wire = await arrived(data.message_id);
    const quotedMessage = { audioMessage: { mimetype: voice.mime_type, seconds: 4, ptt: true } };
    expect(wire).toMatchObject({
      extendedTextMessage: { contextInfo: { stanzaId: message_id, participant: ana.lid, quotedMessage } },
    });
    expect(JSON.stringify(wire)).not.toMatch(/mediaKey|directPath/);
    const { quoted } = (await client.getMessage({ id, messageId: data.message_id ?? "" })).data;
    expect(quoted).toMatchObject({
      id: message_id,
      from_me: false,
      content: { kind: "media", media_type: "ptt", seconds: 4 },
    });
    expect(JSON.stringify(quoted)).not.toMatch(/"(ref|key|path)"/);
  });

  test("contains what it quotes from the history of the phone", async () => {
    const { data } = await client.sendReply({ id, message_id: "3EB0OLD", text: "As you said" });
    expect(await arrived(data.message_id)).toMatchObject({
      extendedTextMessage: {
        contextInfo: { stanzaId: "3EB0OLD", quotedMessage: { conversation: "Last week" } },
      },
    });
  });

  test("in private names the group of the message that it quotes", async () => {
    const { message_id } = await received(ana, group, "Who has it?");
    const { data } = await client.sendText({ id, number: ana.phone, text: "I do", reply_to: message_id });
    expect(await arrived(data.message_id)).toMatchObject({
      extendedTextMessage: { contextInfo: { stanzaId: message_id, remoteJid: group } },
    });
  });
});

describe("link_preview", () => {
  const head =
    '<meta property="og:title" content="Shoes"><meta property="og:description" content="Blue ones">';
  let pages: FileServer;
  let link: string;

  beforeAll(async () => {
    pages = await startFileServer();
    link = pages.serve("/shoes", file(Buffer.from(head), "text/html; charset=utf-8"));
  });
  afterAll(() => pages.close());

  test("true shows the title and description of the first link's page", async () => {
    const text = `Look: ${link}!`;
    const { data } = await client.sendText({ id, number: ana.phone, text, link_preview: true });
    const wire = { text, matchedText: link, title: "Shoes", description: "Blue ones" };
    expect(await arrived(data.message_id)).toMatchObject({ extendedTextMessage: wire });
  });

  test("false, the default, reads no page", async () => {
    const before = pages.asked.length;
    const { data } = await client.sendText({ id, number: ana.phone, text: link });
    expect(await arrived(data.message_id)).toMatchObject({ conversation: link });
    expect(pages.asked).toHaveLength(before);
  });
});

describe("a mention in a group that lists its members by LID", () => {
  test("is sent by LID, also in the text, and is stored as it was written", async () => {
    const text = `@${bia.phone} come here`;
    const { data } = await client.sendText({ id, jid: group, text, mentions: [bia.phone] });
    expect(await arrived(data.message_id)).toMatchObject({
      extendedTextMessage: {
        text: `@${bia.lid.split("@")[0]} come here`,
        contextInfo: { mentionedJid: [bia.lid] },
      },
    });
    expect((await client.getMessage({ id, messageId: data.message_id ?? "" })).data).toMatchObject({
      text,
      mentions: [bia.jid],
      mentioned: [{ jid: bia.jid, phone: bia.phone }],
    });
  });

  test("is received with both addresses of the mentioned person", async () => {
    const text = `@${bia.lid.split("@")[0]} come here`;
    // From here on the instance knows her phone number.
    await received(bia, group, "Hi");
    expect(await received(ana, group, { kind: "text", text, mentions: [bia.lid] })).toMatchObject({
      text,
      mentions: [bia.jid],
      mentioned: [{ jid: bia.jid, lid: bia.lid, phone: bia.phone }],
    });
  });
});

describe("message.received", () => {
  test("contains the advertisement and how often the message was forwarded", async () => {
    const contextInfo = {
      isForwarded: true,
      externalAdReply: { sourceType: "ad", ctwaClid: "ARAk", title: "Sale" },
    };
    const message = { extendedTextMessage: { text: "Still there?", contextInfo } };
    expect(await received(ana, me, { kind: "raw", message })).toMatchObject({
      is_forwarded: true,
      forwarding_score: 1,
      choice: null,
      ad: { source_type: "ad", ctwa_clid: "ARAk", title: "Sale", source_url: null },
    });
  });

  test("contains the id of the choice from a list", async () => {
    const message = { listResponseMessage: { title: "Blue", singleSelectReply: { selectedRowId: "row-3" } } };
    expect(await received(ana, me, { kind: "raw", message })).toMatchObject({
      text: "Blue",
      choice: { kind: "list", id: "row-3" },
      ad: null,
      is_forwarded: false,
      group_invite: null,
    });
  });

  test("contains every contact card", async () => {
    const contacts = ["Caio", "Davi"].map((name) => ({ displayName: name, vcard: `FN:${name}` }));
    const message = { contactsArrayMessage: { contacts } };
    expect(await received(ana, me, { kind: "raw", message })).toMatchObject({
      type: "contact",
      contacts: [{ name: "Caio" }, { name: "Davi" }],
    });
  });
});

describe("a better copy of a picture", () => {
  const picture = (bytes: Uint8Array, caption?: string) =>
    ({ kind: "media", media_type: "image", mime_type: "image/jpeg", caption, bytes }) as const;

  /** The picture as another person received it. */
  async function imageOf(bytes: Uint8Array) {
    const { control } = on;
    const copy = await control.sendMessage(ana.phone, bia.phone, picture(bytes));
    await waitUntil(async () => (await control.message(bia.phone, copy)) !== undefined);
    return (await control.message(bia.phone, copy))?.imageMessage;
  }

  function associated(associationType: string, parent: string, imageMessage: unknown): SentContent {
    const parentMessageKey = { id: parent, fromMe: false, remoteJid: group };
    const messageContextInfo = { messageAssociation: { associationType, parentMessageKey } };
    const message = { messageContextInfo, associatedChildMessage: { message: { imageMessage } } };
    return { kind: "raw", message };
  }

  const fileOf = async (messageId: string) =>
    (await client.getMessage({ id, messageId })).data.media as { id: string; status: string; sha256: string };

  test("replaces the file of its first message, is no message itself, and is ignored from another person", async () => {
    const { control } = on;
    const [small, large] = [SAMPLE.jpeg, Buffer.concat([SAMPLE.jpeg, Buffer.alloc(64)])];
    const sha256 = createHash("sha256").update(large).digest("hex");
    const { message_id: first } = await received(ana, group, picture(small, "Look"));
    await waitUntil(async () => (await fileOf(first)).status === "ready");
    const { id: media } = await fileOf(first);
    const before = (await events("message.received")).length;
    const better = associated("HD_IMAGE_DUAL_UPLOAD", first, await imageOf(large));
    await control.sendMessage(bia.phone, group, better);
    await control.sendMessage(ana.phone, group, associated("MOTION_PHOTO", first, {}));
    await received(bia, group, "Between");
    const { content } = await on.gateway.database.db
      .selectFrom("message")
      .select("content")
      .where("message_id", "=", first)
      .where("instance_id", "=", id)
      .executeTakeFirstOrThrow();
    expect(content).toMatchObject({ size: small.length });
    await control.sendMessage(ana.phone, group, better);
    await waitUntil(async () => {
      const found = await fileOf(first);
      return found.status === "ready" && found.sha256 === sha256;
    });
    expect((await client.getMessage({ id, messageId: first })).data).toMatchObject({
      caption: "Look",
      media: { id: media, size: large.length },
    });
    await received(ana, group, "After");
    expect(await events("message.received")).toHaveLength(before + 2);
  });
});
