import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content } from "../../driver.ts";

let stage: WhatsAppStage;

const pair = async (): Promise<RecordingSession> => {
  const listener = stage.open();
  await listener.pair(stage.phone);
  return listener;
};

const text = (words: string): Content => ({ kind: "text", text: words });

beforeEach(async () => {
  stage = await startWhatsAppStage();
});

afterEach(() => stage.stop());

describe("an inbound message", () => {
  it("from the user's own phone is marked as own, in the chat to which it was sent", async () => {
    const listener = await pair();
    const id = await stage.control.sendMessage(stage.phone.number, stage.contact.number, "from the phone");
    expect(await listener.message(id as never)).toMatchObject({
      chat: stage.contact.jid,
      from_me: true,
      content: text("from the phone"),
    });
  });

  it("belongs to one chat, whether addressed by phone or by LID", async () => {
    const listener = await pair();
    const chats: string[] = [];
    for (const addressing of ["lid", "pn", "lid"] as const) {
      const id = await stage.control.sendMessage(stage.contact.number, stage.phone.number, addressing, {
        addressing,
      });
      const { chat, sender } = await listener.message(id as never);
      chats.push(`${chat} ${sender.phone} ${sender.lid !== null}`);
    }
    expect(new Set(chats)).toEqual(new Set([`${stage.contact.jid} ${stage.contact.number} true`]));
  });

  it("that is a poll is reported as the text of its question and options", async () => {
    const listener = await pair();
    const options = [{ optionName: "Red" }, { optionName: "Blue" }];
    const message = { pollCreationMessage: { name: "Which?", options } };
    const { number } = stage.contact;
    const poll = await stage.control.sendMessage(number, stage.phone.number, { kind: "raw", message });
    expect((await listener.message(poll as never)).content).toMatchObject(text("Which?\n1. Red\n2. Blue"));
  });

  it("from before the pairing is history", async () => {
    const at = Date.now() - 86_400_000;
    const secret = randomBytes(32);
    const messages = [{ id: "OLD1", text: "long ago", at, secret }];
    await stage.control.settings({ history: [{ chat: stage.contact.number, messages }] });
    const listener = await pair();
    const message = await listener.message("OLD1" as never);
    expect(message).toMatchObject({ history: true, chat: stage.contact.jid, content: text("long ago") });
    expect(message.secret).toBe(secret.toString("base64"));
    expect(message.offline).toBeUndefined();
  });
});
