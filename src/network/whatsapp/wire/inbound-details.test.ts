import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, MessageId } from "../../driver.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
});

afterAll(() => stage.stop());

async function received(message: Record<string, unknown>): Promise<Content> {
  const id = await stage.control.sendMessage(stage.contact.number, stage.phone.number, {
    kind: "raw",
    message,
  });
  return (await listener.message(id as MessageId)).content;
}

const vcardOf = (name: string, phone: string) =>
  `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;waid=${phone}:+${phone}\nEND:VCARD`;

describe("an inbound message with details", () => {
  it("with several cards reports each of them, up to a limit", async () => {
    const cards = [
      { displayName: "Bia", vcard: vcardOf("Bia", "5511988887777") },
      { displayName: "Caio", vcard: vcardOf("Caio", "5511988886666") },
      { displayName: "Huge", vcard: `${vcardOf("Huge", "5511988885555")}${"x".repeat(70_000)}` },
    ];
    expect(await received({ contactsArrayMessage: { displayName: "3 contacts", contacts: cards } })).toEqual({
      kind: "contact",
      name: "Bia",
      phone: "5511988887777",
      vcard: cards[0]?.vcard,
      more: [{ name: "Caio", phone: "5511988886666", vcard: cards[1]?.vcard }],
    });
  });

  it("with hundreds of cards reports fifty", async () => {
    const contacts = Array.from({ length: 300 }, (_, i) => ({
      displayName: `P${i}`,
      vcard: vcardOf("P", "55"),
    }));
    const content = await received({ contactsArrayMessage: { contacts } });
    expect(content).toMatchObject({ kind: "contact", name: "P0", more: { length: 49 } });
  });

  const NONE = { id: null, name: null, params: null };
  it.each([
    [
      "a button",
      { buttonsResponseMessage: { selectedButtonId: "yes-1", selectedDisplayText: "Yes" } },
      { text: "Yes", choice: { ...NONE, kind: "button", id: "yes-1" } },
    ],
    [
      "a button of a template",
      { templateButtonReplyMessage: { selectedId: "t-2", selectedDisplayText: "Track" } },
      { text: "Track", choice: { ...NONE, kind: "template_button", id: "t-2" } },
    ],
    [
      "a row of a list",
      { listResponseMessage: { title: "Blue", singleSelectReply: { selectedRowId: "row-3" } } },
      { text: "Blue", choice: { ...NONE, kind: "list", id: "row-3" } },
    ],
    [
      "a button without words",
      { buttonsResponseMessage: { selectedButtonId: "yes-1" } },
      { text: "yes-1", choice: { ...NONE, kind: "button", id: "yes-1" } },
    ],
    [
      "a form",
      {
        interactiveResponseMessage: {
          body: { text: "Sent" },
          nativeFlowResponseMessage: { name: "flow", paramsJson: '{"size":"M"}' },
        },
      },
      { text: "Sent", choice: { ...NONE, kind: "flow", name: "flow", params: '{"size":"M"}' } },
    ],
    [
      "a form with more than can be kept",
      {
        interactiveResponseMessage: {
          nativeFlowResponseMessage: { name: "flow", paramsJson: `{"a":"${"x".repeat(9_000)}"}` },
        },
      },
      { text: "flow", choice: { ...NONE, kind: "flow", name: "flow" } },
    ],
    [
      "an invitation",
      {
        groupInviteMessage: {
          groupJid: "120363000000000001@g.us",
          inviteCode: "AbC",
          groupName: "Team",
          inviteExpiration: 1_800_000_000,
          caption: "Come in",
        },
      },
      {
        text: "Come in",
        invite: {
          group: "120363000000000001@g.us",
          code: "AbC",
          name: "Team",
          expires_at: "2027-01-15T08:00:00.000Z",
        },
      },
    ],
  ])("that replies with %s reports what was chosen", async (_, message, content) => {
    expect(await received(message)).toEqual({ kind: "text", ...content });
  });

  it("reports the advertisement that it comes from, with texts of limited length", async () => {
    const externalAdReply = {
      title: "Sale",
      body: "b".repeat(9_000),
      sourceType: "ad",
      sourceId: "120210",
      ctwaClid: "ARAk",
      sourceUrl: "https://fb.me/1",
      sourceApp: "facebook",
      thumbnail: Buffer.alloc(9_000).toString("base64"),
    };
    const contextInfo = { externalAdReply, entryPointConversionSource: "ctwa_ad" };
    const content = await received({ extendedTextMessage: { text: "Is it there?", contextInfo } });
    expect(content).toEqual({
      kind: "text",
      text: "Is it there?",
      ad: {
        source_type: "ad",
        source_id: "120210",
        source_url: "https://fb.me/1",
        source_app: "facebook",
        entry_point: "ctwa_ad",
        title: "Sale",
        body: "b".repeat(4096),
        ctwa_clid: "ARAk",
        media_url: null,
        thumbnail_url: null,
        ref: null,
      },
    });
  });

  it("with a card that its sender drew around a link is no click on an advertisement", async () => {
    const contextInfo = { externalAdReply: { title: "My shop", sourceUrl: "https://shop.example" } };
    expect(await received({ extendedTextMessage: { text: "Look", contextInfo } })).not.toHaveProperty("ad");
  });

  it("reports that it was forwarded, and how often", async () => {
    const contextInfo = { isForwarded: true, forwardingScore: 5 };
    expect(await received({ extendedTextMessage: { text: "News", contextInfo } })).toMatchObject({
      forwarded: { score: 5 },
    });
  });
});
