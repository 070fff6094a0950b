import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, Jid, MessageId } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

/** Baileys adds its token to a secret depending on the random length of the padding. */
const TIMES = 16;

let stage: WhatsAppStage;
let listener: RecordingSession;
let group: Jid;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open({}, { findSent: async (_, id) => ({ kind: "text", text: `Again ${id}` }) });
  await listener.pair(stage.phone);
  group = await stage.world.addGroup("Team", [stage.phone.number, stage.contact.number]);
});

afterAll(() => stage.stop());

async function send(to: Jid, content: Content): Promise<MessageId> {
  const id = newMessageId();
  expect(await listener.session.send(to, content, { id })).toMatchObject({ outcome: "accepted" });
  return id;
}

const arrivals = async () => (await stage.control.ledger()).arrivals;
const withToken = async () => (await arrivals()).filter((one) => one.has_reporting);
const bytes = Buffer.from(inBase64(SAMPLE.png), "base64");
const file = { kind: "media", size: bytes.length, bytes } as const;
const quoted = { id: newMessageId(), from_me: true, text: "Hello" };

const KINDS: [string, Content][] = [
  ["a text", { kind: "text", text: "Hello" }],
  [
    "a reply with a mention",
    { kind: "text", text: "Hello", quoted, mentions: ["5511999990001@s.whatsapp.net" as Jid] },
  ],
  ["an image", { ...file, media_type: "image", mime_type: "image/png", caption: "Look" }],
  [
    "a document",
    { ...file, media_type: "document", mime_type: "image/png", file_name: "a.png", caption: "Look" },
  ],
  ["a location", { kind: "location", latitude: -23.5, longitude: -46.6, name: "Here" }],
  ["a contact", { kind: "contact", name: "Ana", phone: "5511999990001" }],
];

/** The secret with which recipients encrypt reactions and comments in an announcement group. */
async function secretOf(id: MessageId): Promise<Buffer> {
  return eventually(async () => {
    const message = await stage.control.message(stage.contact.number, id);
    const { messageContextInfo } = (message ?? {}) as { messageContextInfo?: { messageSecret?: string } };
    const secret = Buffer.from(messageContextInfo?.messageSecret ?? "", "base64");
    expect(secret).toHaveLength(32);
    return secret;
  });
}

it.each(KINDS)(
  "%s goes out with a secret, without a reporting token, to a contact and to a group",
  async (_, content) => {
    const ids: MessageId[] = [];
    for (let i = 0; i < TIMES; i++) ids.push(await send(i % 2 ? group : stage.contact.jid, content));
    expect(await withToken()).toEqual([]);
    const secrets = await Promise.all(ids.map(secretOf));
    expect(new Set(secrets.map((secret) => secret.toString("hex"))).size).toBe(TIMES);
  },
);

it("edits, reactions and deletions go out without a reporting token", async () => {
  for (const chat of [stage.contact.jid, group]) {
    const target = { chat, id: await send(chat, { kind: "text", text: "Hello" }), from_me: true };
    const before = (await arrivals()).length;
    for (let i = 0; i < TIMES / 2; i++) {
      await listener.session.edit?.(target, `Hello ${i}`, { id: newMessageId() });
      await listener.session.react?.(target, "+1", { id: newMessageId() });
    }
    await listener.session.deleteForEveryone?.(target, { id: newMessageId() });
    expect((await arrivals()).length).toBe(before + TIMES + 1);
  }
  expect(await withToken()).toEqual([]);
});

it("a message that its recipient requests again has the same secret, and no reporting token", async () => {
  for (const chat of [stage.contact.jid, group]) {
    const id = await send(chat, { kind: "text", text: "Hello" });
    const secret = await secretOf(id);
    await stage.control.requestRetry(stage.contact.number, id);
    await eventually(async () => expect(await stage.control.arrivals(id)).toBe(2));
    await eventually(async () => {
      const decrypted = (await stage.control.ledger()).decryptions.filter(
        (one) => one.id === id && one.by === stage.contact.number,
      );
      expect(decrypted).toHaveLength(2);
    });
    expect(await secretOf(id)).toEqual(secret);
  }
  expect(await withToken()).toEqual([]);
});
