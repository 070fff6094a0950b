import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import { QUOTED_TEXT_MAX, quoteContent } from "../../content/quote-content.ts";
import type { Content, Jid, MediaContent, MessageId, QuotedMessage } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
});

afterAll(() => stage.stop());

/** The content of a quoting reply on the contact's phone. */
async function quoteOnTheWire(content: Content, more: Partial<QuotedMessage> = {}) {
  const id = newMessageId();
  const quoted = { id: newMessageId(), from_me: false, ...quoteContent(content), ...more };
  const reply: Content = { kind: "text", text: "Yes", quoted };
  expect(await listener.session.send(stage.contact.jid, reply, { id })).toMatchObject({
    outcome: "accepted",
  });
  const message = await eventually(async () => {
    const found = await stage.control.message(stage.contact.number, id);
    if (!found) throw new Error("It has not come yet.");
    return found as { extendedTextMessage: { contextInfo: Record<string, unknown> } };
  });
  return message.extendedTextMessage.contextInfo;
}

const file = (content: Partial<MediaContent>): Content =>
  ({ kind: "media", size: 3, sha256: "0a0b", ...content }) as Content;

/** The address and the key of another sender's file. */
const ref = {
  type: "image",
  path: "/v/secret-path",
  key: "c2VjcmV0LWtleQ==",
  sha256: "",
  sealed_sha256: "",
  size: 3,
};

const KINDS: [string, Content, Record<string, unknown>][] = [
  ["a text", { kind: "text", text: "Which one?" }, { conversation: "Which one?" }],
  [
    "a picture without a caption",
    file({ media_type: "image", mime_type: "image/jpeg", ref }),
    { imageMessage: { mimetype: "image/jpeg", fileLength: "3", fileSha256: "Cgs=" } },
  ],
  [
    "a video",
    file({ media_type: "video", mime_type: "video/mp4", caption: "Look", seconds: 7, ref }),
    { videoMessage: { mimetype: "video/mp4", caption: "Look", seconds: 7 } },
  ],
  [
    "a voice note",
    file({ media_type: "ptt", mime_type: "audio/ogg; codecs=opus", seconds: 4, ref }),
    { audioMessage: { mimetype: "audio/ogg; codecs=opus", ptt: true, seconds: 4 } },
  ],
  [
    "a document with a caption",
    file({ media_type: "document", mime_type: "application/pdf", file_name: "a.pdf", caption: "Read", ref }),
    { documentMessage: { mimetype: "application/pdf", fileName: "a.pdf", caption: "Read" } },
  ],
  [
    "a sticker",
    file({ media_type: "sticker", mime_type: "image/webp", ref }),
    { stickerMessage: { mimetype: "image/webp" } },
  ],
  [
    "a place",
    { kind: "location", latitude: -23.5, longitude: -46.6, name: "Here" },
    { locationMessage: { degreesLatitude: -23.5, degreesLongitude: -46.6, name: "Here" } },
  ],
  [
    "a card",
    { kind: "contact", name: "Bia", phone: "5511988887777", vcard: `${"PHOTO:".padEnd(50_000, "A")}` },
    { contactMessage: { displayName: "Bia", vcard: expect.stringMatching(/^.{20,200}$/s) } },
  ],
];

describe("a reply", () => {
  it.each(KINDS)("that quotes %s shows it, and never the key of its file", async (_, content, wire) => {
    const context = await quoteOnTheWire(content);
    expect(context).toMatchObject({ quotedMessage: wire });
    expect(context).not.toHaveProperty("remoteJid");
    expect(JSON.stringify(context)).not.toMatch(/secret-path|c2VjcmV0|mediaKey|directPath/);
  });

  it("quotes a card without a phone as one without a phone", async () => {
    const { quotedMessage } = await quoteOnTheWire({ kind: "contact", name: "Bia", phone: "" });
    expect(quotedMessage).toEqual({
      contactMessage: { displayName: "Bia", vcard: "BEGIN:VCARD\nVERSION:3.0\nN:;Bia;;;\nFN:Bia\nEND:VCARD" },
    });
  });

  it("quotes no more of a text than is shown, and no half characters", async () => {
    const text = `${"a".repeat(QUOTED_TEXT_MAX - 1)}😀 and more`;
    const { quotedMessage } = await quoteOnTheWire({ kind: "text", text });
    expect(quotedMessage).toEqual({ conversation: "a".repeat(QUOTED_TEXT_MAX - 1) });
  });

  it("names the chat of a message that it quotes from another one", async () => {
    const chat = "120363000000000001@g.us" as Jid;
    expect(await quoteOnTheWire({ kind: "text", text: "In the group" }, { chat })).toMatchObject({
      remoteJid: chat,
    });
  });

  it("is reported with its quoted message when it is inbound", async () => {
    const quotedMessage = { audioMessage: { mimetype: "audio/ogg; codecs=opus", seconds: 4, ptt: true } };
    const contextInfo = { stanzaId: "3EB0AA", participant: stage.contact.jid, quotedMessage };
    const id = await stage.control.sendMessage(stage.contact.number, stage.phone.number, {
      kind: "raw",
      message: { extendedTextMessage: { text: "That one", contextInfo } },
    });
    const { content } = await listener.message(id as MessageId);
    expect(content.quoted).toMatchObject({
      id: "3EB0AA",
      content: { kind: "media", media_type: "ptt", mime_type: "audio/ogg; codecs=opus", seconds: 4 },
    });
    expect(content.quoted?.content).not.toHaveProperty("ref");
  });
});
