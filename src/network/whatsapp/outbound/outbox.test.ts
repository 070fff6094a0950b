import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import {
  createDriver,
  startWhatsAppStage,
  type WhatsAppStage,
  type WhatsAppStageOptions,
} from "../../../../test/whatsapp-stage.ts";
import type { Content, SendResult } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

let stage: WhatsAppStage;

const pair = async (options: WhatsAppStageOptions = {}): Promise<RecordingSession> => {
  const listener = stage.open(options);
  await listener.pair(stage.phone);
  return listener;
};

/** Waits until the phone's first sync with a new device is complete, with all requests it causes. */
const settle = (listener: RecordingSession): Promise<void> =>
  eventually(async () => {
    expect(await stage.control.waiting(stage.phone.number)).toBe(0);
    expect(listener.all("profile_updated")).not.toEqual([]);
  });

const text = (words: string): Content => ({ kind: "text", text: words });
const send = (listener: RecordingSession, words: string, id = newMessageId()): Promise<SendResult> =>
  listener.session.send(stage.contact.jid, text(words), { id });

beforeEach(async () => {
  stage = await startWhatsAppStage();
});

afterEach(() => stage.stop());

describe("a send", () => {
  it("costs one stanza when the recipient is known", async () => {
    const listener = await pair();
    await settle(listener);
    for (const words of ["first", "second"]) await send(listener, words);
    await listener.waitForEvent("message_status", 2);
    await stage.control.clearLedger();
    await send(listener, "third");
    await listener.waitForEvent("message_status", 3);
    const stanzas = Object.entries(await stage.control.stanzas(stage.phone.number));
    // Settings belong to the first login and may still be in transit.
    const isForIt = (kind: string) => !kind.startsWith("ack") && kind !== "iq:w:sync:app:state";
    expect(stanzas.filter(([kind]) => isForIt(kind))).toEqual([["message", 1]]);
  });

  it("costs no query after a restart either", async () => {
    const before = await pair();
    await send(before, "first");
    await before.waitForEvent("message_status");
    await before.session.disconnect();
    const listener = stage.open({}, { credentials: before.credentials });
    listener.session.connect();
    await listener.waitForEvent("connected");
    await stage.control.clearLedger();
    await send(listener, "second");
    await listener.waitForEvent("message_status");
    const { message, "iq:usync": asked = 0 } = await stage.control.stanzas(stage.phone.number);
    expect([message, asked]).toEqual([1, 0]);
  });

  it("to a contact that has installed the app anew goes on, and so do the contact's messages", async () => {
    const listener = await pair();
    await send(listener, "before");
    await listener.message(await stage.contact.sendMessage({ kind: "text", text: "before too" }));
    await stage.control.reinstall(stage.contact.number);
    await listener.message(await stage.contact.sendMessage({ kind: "text", text: "after" }));
    expect((await send(listener, "after too")).outcome).toBe("accepted");
    await eventually(async () => {
      const { decryptions } = await stage.control.ledger();
      expect(
        decryptions.filter(({ by, text }) => by === stage.contact.number && text === "after too"),
      ).toHaveLength(1);
    });
  });

  it("to a new chat may be refused for a while, and the error says for how long", async () => {
    const listener = await pair();
    const until = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
    await stage.control.restrictNewChats(stage.phone.number, until.getTime());
    expect(await send(listener, "Hi")).toMatchObject({
      outcome: "refused",
      code: "REACHOUT_TIMELOCK",
      until,
    });
  });

  it.each([479, 500])("is refused with error %s in its ack", async (error) => {
    const listener = await pair();
    await stage.control.fault({ fault: "ack_error", error });
    expect(await send(listener, "Hi")).toMatchObject({ outcome: "refused", code: "SEND_FAILED" });
    expect((await send(listener, "Hi")).outcome).toBe("accepted");
  });

  it("with a lost ack stays open until the connection ends, and may be repeated", async () => {
    const listener = await pair();
    const id = newMessageId();
    await stage.control.fault({ fault: "ack_lost" });
    let result: SendResult | undefined;
    const sending = send(listener, "once", id).then((one) => {
      result = one;
    });
    await eventually(async () => expect(await stage.countDeliveries(id)).toBe(1));
    expect(result).toBeUndefined();
    await stage.phone.drop();
    await sending;
    expect(result?.outcome).toBe("unknown");
    await listener.waitForEvent("connected", 2);
    expect((await send(listener, "once", id)).outcome).toBe("accepted");
    await eventually(async () => {
      const seen = (await stage.contact.observed()).filter((one) => one.type === "message");
      expect(seen.map((one) => one.id)).toEqual([id]);
    });
  });

  it("that the recipient could not decrypt is sent again from the gateway's log", async () => {
    const listener = await pair();
    const asked: string[] = [];
    const session = createDriver(stage.server, {}).open({
      account_id: 1,
      credentials: listener.credentials,
      report: async () => undefined,
      findSent: async (chat, id) => {
        asked.push(`${chat} ${id}`);
        return text("from the log");
      },
    });
    const id = newMessageId();
    await send(listener, "from memory", id);
    await seenText("from memory");
    await listener.session.disconnect();
    session.connect();
    await stage.control.requestRetry(stage.contact.number, id);
    await eventually(() => expect(asked).toEqual([`${stage.contact.jid} ${id}`]));
    await session.disconnect();
  });

  const seenText = (words: string) =>
    eventually(async () => {
      const seen = (await stage.contact.observed()).filter((one) => one.type === "message");
      expect(seen.map((one) => one.content)).toContainEqual(expect.objectContaining(text(words)));
    });
});

describe("a file of a message", () => {
  it.each(["video", "audio", "ptt", "document", "sticker"] as const)(
    "of kind %s can be sent and received",
    async (kind) => {
      const listener = await pair();
      const bytes = new Uint8Array([0x52, 0x49, 0x46, 0x46, 1]);
      const file: Content = {
        kind: "media",
        media_type: kind,
        mime_type: "application/x-test",
        size: 5,
        bytes,
        ...(kind === "document" && { file_name: "a.bin", caption: "Look" }),
      };
      const result = await listener.session.send(stage.contact.jid, file, { id: newMessageId() });
      expect(result).toMatchObject({ outcome: "accepted", media_ref: expect.anything() });
      const { content } = await listener.message(await stage.contact.sendMessage(file));
      expect(content).toMatchObject({ kind: "media", media_type: kind, size: 5 });
      await eventually(async () => {
        const seen = (await stage.contact.observed()).filter((one) => one.type === "message");
        expect(seen.map((one) => one.content)).toMatchObject([{ media_type: kind }]);
      });
    },
  );
});
