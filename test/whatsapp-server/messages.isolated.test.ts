import { downloadMediaMessage, proto, type WAMessage } from "baileys";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PersonInfo } from "./control.ts";
import type { RawClient } from "./raw-client.ts";
import { eventually, known, Story } from "./story.ts";

const DOT = Buffer.from("89504e470d0a1a0a", "hex");

describe("messages", () => {
  let story: Story;
  let client: RawClient;

  beforeEach(async () => {
    story = await Story.start();
    client = await story.paired();
  });

  afterEach(() => story.end());

  const seen = async <Type extends string>(type: Type) =>
    (await story.control.seen(story.ana.phone)).filter((one) => one.type === type);

  const sent = async (text: string): Promise<WAMessage> => {
    const message = known(await client.socket.sendMessage(story.ana.jid, { text }));
    await eventually(async () =>
      expect(await seen("message")).toContainEqual(expect.objectContaining({ id: message.key.id })),
    );
    return message;
  };

  it("edits, deletes and reacts both ways", async () => {
    const { key } = await sent("Helo");
    await client.socket.sendMessage(story.ana.jid, { text: "Hello", edit: key });
    await client.socket.sendMessage(story.ana.jid, { react: { text: "👍", key } });
    await client.socket.sendMessage(story.ana.jid, { delete: key });
    await eventually(async () => {
      expect(await seen("edited")).toMatchObject([{ id: key.id, text: "Hello" }]);
      expect(await seen("reaction")).toMatchObject([{ id: key.id, reaction: "👍" }]);
      expect(await seen("deleted")).toMatchObject([{ id: key.id }]);
    });
    const { ana, me, control } = story;
    const id = await control.sendMessage(ana.phone, me.phone, "Oii");
    await control.edit(ana.phone, me.phone, id, "Oi");
    await control.react(ana.phone, me.phone, known(key.id ?? undefined), "❤️");
    await control.delete(ana.phone, me.phone, id);
    await eventually(() => {
      const updates = client.all("messages.update").flat();
      const edited = updates.find((one) => one.update.message?.editedMessage);
      expect(edited?.update.message?.editedMessage?.message?.conversation).toBe("Oi");
      const revoke = proto.WebMessageInfo.StubType.REVOKE;
      expect(updates.some((one) => one.key.id === id && one.update.messageStubType === revoke)).toBe(true);
      expect(client.all("messages.reaction").flat()).toMatchObject([
        { key: { id: key.id, fromMe: true }, reaction: { text: "❤️" } },
      ]);
    });
  });

  it("tells the writer of delivery, reading and playing, after the ordered delay", async () => {
    await story.control.settings({ receiptDelayMs: 150 });
    const { key } = await sent("Read me");
    await eventually(() => {
      const statuses = client.all("messages.update").flat();
      expect(statuses.map((one) => one.update.status)).toContain(3);
    });
    await story.control.read(story.ana.phone, [known(key.id ?? undefined)]);
    await eventually(() => {
      const statuses = client.all("messages.update").flat();
      expect(statuses.map((one) => one.update.status)).toContain(4);
    });
  });

  it("shows the contact what the client has read and whether it types", async () => {
    const id = await story.control.sendMessage(story.ana.phone, story.me.phone, "Seen?");
    const { message } = await eventually(() =>
      known(client.upserts.find((one) => one.message.key.id === id)),
    );
    await client.socket.readMessages([message.key]);
    await client.socket.sendPresenceUpdate("composing", story.ana.jid);
    await eventually(async () => {
      expect(await seen("delivered")).toMatchObject([{ ids: [id] }]);
      expect(await seen("read")).toMatchObject([{ ids: [id] }]);
      expect(await seen("presence")).toMatchObject([{ state: "typing" }]);
    });
    await story.control.presence(story.ana.phone, story.me.phone, "recording");
    await eventually(() => {
      const [update] = client.all("presence.update");
      expect(update?.presences[story.ana.lid]).toMatchObject({ lastKnownPresence: "recording" });
    });
  });

  it.each(["lid", "pn"] as const)("brings texts both ways in a group addressed by %s", async (addressing) => {
    const bia = await story.control.addPerson({ name: "Bia" });
    const members = [story.ana.phone, story.me.phone, bia.phone];
    const group = await story.control.addGroup("Three", members, { addressing });
    const idOf = ({ jid, lid }: PersonInfo): string => (addressing === "lid" ? lid : jid);
    for (const text of ["one", "two"]) await client.socket.sendMessage(group.jid, { text });
    for (const phone of [story.ana.phone, bia.phone, story.me.phone]) {
      await eventually(async () => {
        const messages = (await story.control.seen(phone)).filter((one) => one.type === "message");
        expect(messages.map((one) => [one.content, one.chat])).toMatchObject([
          [{ text: "one" }, group.jid],
          [{ text: "two" }, group.jid],
        ]);
      });
    }
    await story.control.sendMessage(bia.phone, group.jid, "three");
    await story.control.sendMessage(bia.phone, group.jid, "four");
    await eventually(() => expect(client.texts()).toEqual(["three", "four"]));
    const first = client.upserts.find((one) => one.message.message?.conversation === "three");
    expect(first?.message.key).toMatchObject({
      remoteJid: group.jid,
      participant: idOf(bia),
      participantAlt: addressing === "lid" ? bia.jid : bia.lid,
    });
    await eventually(() => {
      const receipts = client.all("message-receipt.update").flat();
      expect(new Set(receipts.map((one) => one.receipt.userJid))).toEqual(
        new Set([idOf(story.ana), idOf(bia)]),
      );
    });
  });

  it("brings files both ways until the network forgets them, and uploads them again when asked", async () => {
    await client.socket.sendMessage(story.ana.jid, {
      document: DOT,
      mimetype: "application/octet-stream",
      fileName: "dot.bin",
      caption: "A dot",
    });
    const [file] = await eventually(async () => {
      const messages = await seen("message");
      expect(messages).toHaveLength(1);
      return messages;
    });
    if (file?.type !== "message") throw new Error("no message");
    expect(file.content).toMatchObject({ kind: "media", media_type: "document", caption: "A dot", size: 8 });
    expect(await story.control.file(story.ana.phone, file.id)).toEqual(DOT);
    const picture = {
      kind: "media",
      media_type: "image",
      mime_type: "image/png",
      caption: "Back",
      bytes: DOT,
    } as const;
    const id = await story.control.sendMessage(story.ana.phone, story.me.phone, picture);
    const { message } = await eventually(() =>
      known(client.upserts.find((one) => one.message.key.id === id)),
    );
    expect(await downloadMediaMessage(message, "buffer", {})).toEqual(DOT);
    await story.control.expireMedia();
    await expect(downloadMediaMessage(message, "buffer", {})).rejects.toThrow();
    const again = await client.socket.updateMediaMessage(message);
    expect(await downloadMediaMessage(again, "buffer", {})).toEqual(DOT);
    await story.control.expireMedia({ phones: true });
    await expect(client.socket.updateMediaMessage(message)).rejects.toThrow();
  });

  it("brings what the own phone writes, and calls", async () => {
    const { me, ana, control } = story;
    const id = await control.sendMessage(me.phone, ana.phone, "From my phone");
    const { message } = await eventually(() =>
      known(client.upserts.find((one) => one.message.key.id === id)),
    );
    expect(message.key).toMatchObject({ fromMe: true, remoteJid: ana.lid });
    expect(await seen("message")).toMatchObject([{ id, from: me.phone }]);
    const callId = await control.call(ana.phone, me.phone, { video: true });
    const [call] = await eventually(() => known(client.all("call")[0]));
    expect(call).toMatchObject({ id: callId, status: "offer", isVideo: true, from: ana.lid });
    await client.socket.rejectCall(callId, ana.lid);
    expect(await seen("call")).toMatchObject([{ id: callId, state: "reject" }]);
  });

  it("sends again what could not be read, both ways", async () => {
    const { me, ana, control } = story;
    await sent("first");
    await control.fault({ fault: "unreadable", by: ana.phone });
    const { key } = await sent("second");
    const { decryptions } = await control.ledger();
    expect(decryptions.filter((one) => one.id === key.id && one.by === ana.phone)).toMatchObject([
      { kind: "unreadable" },
      { kind: "extendedTextMessage", text: "second" },
    ]);
    const id = await control.sendMessage(ana.phone, me.phone, "broken once", { corrupt: true });
    await eventually(() => expect(client.texts()).toContain("broken once"));
    const { deliveries } = await control.ledger();
    expect(deliveries.find((one) => one.id === id)).toMatchObject({ sent: 2, retries: 1 });
    await eventually(async () => expect(await control.waiting(me.phone)).toBe(0));
  });

  it("sends again what could not be read in a group, both ways", async () => {
    const { me, ana, control } = story;
    const { jid } = await control.addGroup("Two", [ana.phone, me.phone]);
    await control.sendMessage(ana.phone, jid, "first");
    await control.sendMessage(ana.phone, jid, "broken once", { corrupt: true });
    await control.sendMessage(ana.phone, jid, "last");
    await eventually(() => expect(client.texts().sort()).toEqual(["broken once", "first", "last"]));
    await control.fault({ fault: "unreadable", by: ana.phone, times: 2 });
    for (const text of ["one", "two"]) await client.socket.sendMessage(jid, { text });
    await eventually(async () => {
      const messages = await seen("message");
      expect(messages.map((one) => one.type === "message" && one.content)).toMatchObject([
        { text: "one" },
        { text: "two" },
      ]);
    });
    await eventually(async () => expect(await control.waiting(me.phone)).toBe(0));
  });
});
