import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content, Jid, MessageId, MessageRef } from "../../driver.ts";
import { newMessageId, phoneJid } from "../../jid.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
let ana: string;
let me: string;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
  ana = stage.contact.number;
  me = stage.phone.number;
});

// The server refuses to stop if a phone would not have shown what the gateway sent.
afterAll(() => stage.stop());

/** Ana's message in a new group of hers with the phone in it, as the gateway has received it. */
async function hearInGroup(addressing: "lid" | "pn"): Promise<MessageRef> {
  const chat = (await stage.control.addGroup("Team", [ana, me], { addressing })).jid as Jid;
  const id = (await stage.control.sendMessage(ana, chat, "Who comes?")) as MessageId;
  await listener.message(id);
  return { chat, id, from_me: false, sender: phoneJid(ana) };
}

/** What Ana's phone shows of acts on a message. */
const shownTo = async (type: string, id: string) =>
  (await stage.control.seen(ana)).filter((one) => one.type === type && "id" in one && one.id === id);

/** The last setting that the phone's devices share. */
const lastSetting = async () => (await stage.control.appSettings(me)).at(-1);

const lidOf = async (phone: string) => (await stage.control.person(phone)).lid;

describe("a star", () => {
  it("names the message as the apps do: the writer only of another member's message in a group", async () => {
    const target = await hearInGroup("lid");
    const { chat, id } = target;
    expect((await listener.session.star?.(target, true, { id: newMessageId() }))?.outcome).toBe("accepted");
    expect(await lastSetting()).toEqual({
      collection: "regular_high",
      index: ["star", chat, id, "0", await lidOf(ana)],
      action: expect.objectContaining({ starAction: { starred: true } }),
    });
    const own = { chat: phoneJid(ana), id: newMessageId(), from_me: true };
    expect((await listener.session.star?.(own, false, { id: newMessageId() }))?.outcome).toBe("accepted");
    expect(await lastSetting()).toMatchObject({
      index: ["star", await lidOf(ana), own.id, "1", "0"],
      action: { starAction: { starred: false } },
    });
  });

  it("is made again if the phone has changed the same settings in the meantime", async () => {
    const target = await hearInGroup("lid");
    await stage.control.fault({ fault: "setting_conflict", phone: me });
    expect((await listener.session.star?.(target, true, { id: newMessageId() }))?.outcome).toBe("accepted");
  });

  it("says why it cannot be made", async () => {
    const target = await hearInGroup("lid");
    await stage.control.fault({ fault: "iq_error", xmlns: "w:sync:app:state", code: 403, phone: me });
    expect(await listener.session.star?.(target, true, { id: newMessageId() })).toMatchObject({
      outcome: "refused",
      code: "SEND_FAILED",
    });
  });
});

describe("a deletion", () => {
  it("on the phone only names the message and its time as the apps do", async () => {
    const target = await hearInGroup("lid");
    const at = new Date("2026-11-20T12:00:00.700Z");
    const result = await listener.session.deleteForMe?.({ ...target, at }, { id: newMessageId() });
    expect(result?.outcome).toBe("accepted");
    expect(await lastSetting()).toEqual({
      collection: "regular_high",
      index: ["deleteMessageForMe", target.chat, target.id, "0", await lidOf(ana)],
      action: expect.objectContaining({
        deleteMessageForMeAction: { deleteMedia: true, messageTimestamp: "1795176000" },
      }),
    });
    expect(await shownTo("deleted", target.id)).toEqual([]);
  });

  it.each(["lid", "pn"] as const)("by an admin of a group by %s names the writer", async (addressing) => {
    const target = await hearInGroup(addressing);
    await stage.control.changeGroup(ana, target.chat, { change: "promote", members: [me] });
    const result = await listener.session.deleteForEveryone?.(target, { id: newMessageId() });
    expect(result?.outcome).toBe("accepted");
    await eventually(async () => expect(await shownTo("deleted", target.id)).toHaveLength(1));
  });
});

describe("a forward", () => {
  it("in a chat whose messages disappear has its timer, and is no new upload", async () => {
    const picture = {
      kind: "media",
      media_type: "image",
      mime_type: "image/png",
      bytes: Buffer.from("a picture"),
      size: 9,
    } as const;
    await stage.control.setTimer(ana, me, 86_400);
    const said = await stage.control.sendMessage(ana, me, picture);
    const { content } = await listener.message(said as MessageId);
    await stage.control.fault({ fault: "media", method: "upload", status: 500 });
    const id = newMessageId();
    const forwarded = { ...content, forwarded: { score: 1 } } as Content;
    expect((await listener.session.send(phoneJid(ana), forwarded, { id })).outcome).toBe("accepted");
    await stage.control.clearFaults();
    const message = await eventually(async () => {
      const found = await stage.control.message(ana, id);
      if (!found) throw new Error("It has not come yet.");
      return found;
    });
    expect(message).toMatchObject({
      imageMessage: { contextInfo: { isForwarded: true, forwardingScore: 1, expiration: 86_400 } },
    });
    expect(Buffer.from((await stage.control.file(ana, id)) ?? [])).toEqual(picture.bytes);
    await stage.control.setTimer(ana, me, 0);
    await listener.message((await stage.control.sendMessage(ana, me, "Back to normal")) as MessageId);
  });

  it("of several cards keeps all of them", async () => {
    const cards = [
      { name: "Bia", phone: "5511999990001" },
      { name: "Caio", phone: "5511999990002" },
    ] as const;
    const id = newMessageId();
    const content = { kind: "contact", ...cards[0], more: [cards[1]], forwarded: { score: 2 } } as const;
    await listener.session.send(phoneJid(ana), { ...content, more: [...content.more] }, { id });
    const message = await eventually(async () => {
      const found = await stage.control.message(ana, id);
      if (!found) throw new Error("It has not come yet.");
      return found;
    });
    expect(message).toMatchObject({
      contactsArrayMessage: {
        contacts: cards.map(({ name }) => ({ displayName: name, vcard: expect.stringContaining(name) })),
        contextInfo: { isForwarded: true, forwardingScore: 2 },
      },
    });
  });
});

describe("a pin", () => {
  it.each(["lid", "pn"] as const)(
    "in a group by %s names the writer as the group does",
    async (addressing) => {
      const target = await hearInGroup(addressing);
      const result = await listener.session.pin?.(target, 2_592_000, { id: newMessageId() });
      expect(result?.outcome).toBe("accepted");
      await eventually(async () =>
        expect(await shownTo("pinned", target.id)).toMatchObject([{ chat: target.chat, seconds: 2_592_000 }]),
      );
    },
  );

  it("by the own phone is reported as its own", async () => {
    const target = await hearInGroup("lid");
    await stage.control.pin(me, target.chat, target.id, 86_400);
    const event = await eventually(() => {
      const found = listener.all("message_pinned").find(({ id }) => id === target.id);
      if (!found) throw new Error("It has not been reported yet.");
      return found;
    });
    const { sender: _, ...named } = target;
    expect(event).toMatchObject({ ...named, seconds: 86_400, by: { phone: me } });
  });
});
