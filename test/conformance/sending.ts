import { describe, expect, it } from "vitest";
import type { Content, MessageId } from "../../src/network/driver.ts";
import { newMessageId } from "../../src/network/jid.ts";
import type { DriverStory } from "./driver-story.ts";
import { DOT, PICTURE, text } from "./driver-story.ts";
import { eventually } from "./listener.ts";

export function describeSending(story: DriverStory): void {
  describe("sending messages", () => {
    it("delivers a text and receives its status changes", async () => {
      const listener = await story.pair();
      const id = await story.send(listener, text("Olá, 世界 👋"));
      expect(await story.seen("message")).toMatchObject({ id, content: text("Olá, 世界 👋") });
      const { ids, status, from_me, chat } = await listener.waitForEvent("message_status");
      expect([ids, status, from_me, chat]).toEqual([[id], "delivered", true, story.stage.contact.jid]);
      await story.stage.contact.markRead(id);
      expect(await listener.waitForEvent("message_status", 2)).toMatchObject({ ids: [id], status: "read" });
    });

    it("delivers a message with a repeated id once", async () => {
      const listener = await story.pair();
      const id = await story.send(listener, text("once"));
      await story.send(listener, text("once"), id);
      expect(await story.stage.countDeliveries(id)).toBe(2);
      const last = await story.send(listener, text("last"));
      const messages = await eventually(async () => {
        const all = (await story.stage.contact.observed()).filter((one) => one.type === "message");
        expect(all.at(-1)?.id).toBe(last);
        return all;
      });
      expect(messages.map((one) => one.id)).toEqual([id, last]);
    });

    it("is refused for a number that is not on the network", async () => {
      const listener = await story.pair();
      const result = await listener.session.send(story.stage.unregisteredJid, text("hello?"), {
        id: newMessageId(),
      });
      expect(result).toMatchObject({ outcome: "refused", code: "RECIPIENT_NOT_FOUND", retryable: false });
    });

    it("keeps the order of a chat", async () => {
      const listener = await story.pair();
      const ids: MessageId[] = [];
      for (let i = 0; i < 20; i++) ids.push(await story.send(listener, text(`no. ${i}`)));
      await eventually(async () => {
        const all = (await story.stage.contact.observed()).filter((one) => one.type === "message");
        expect(all.map((one) => one.id)).toEqual(ids);
      });
    });

    it("sends nothing before the first pairing", async () => {
      const listener = story.open();
      const result = await listener.session.send(story.stage.contact.jid, text("early"), {
        id: newMessageId(),
      });
      expect(result.outcome).toBe("not_sent");
    });

    const contents: [string, Content][] = [
      ["a location", { kind: "location", latitude: -23.5, longitude: -46.6, name: "Sé", address: "Centro" }],
      ["a contact", { kind: "contact", name: "Bia", phone: "5511999990001" }],
    ];
    it.each(contents)("delivers %s", async (_, content) => {
      const listener = await story.pair();
      await story.send(listener, content);
      expect((await story.seen("message")).content).toMatchObject(content);
    });

    it("delivers a file with its caption", async () => {
      const listener = await story.pair();
      const id = await story.send(listener, PICTURE);
      const { content } = await story.seen("message");
      expect(content).toMatchObject({ media_type: "image", mime_type: "image/png", caption: "A dot" });
      expect(Buffer.from((await story.stage.contact.file(id)) ?? [])).toEqual(Buffer.from(DOT));
    });

    it("delivers a file that phones show once", async () => {
      const listener = await story.pair();
      await story.send(listener, { ...PICTURE, view_once: true });
      expect((await story.seen("message")).content).toMatchObject({ media_type: "image", view_once: true });
    });

    it("forwards a file that it has sent, without its bytes, and marks it", async () => {
      const listener = await story.pair();
      const { bytes: _, ...described } = PICTURE;
      const result = await listener.session.send(story.stage.contact.jid, PICTURE, { id: newMessageId() });
      const ref = result.outcome === "accepted" ? result.media_ref : undefined;
      const again = { ...described, ref, forwarded: { score: 5 } } as const;
      const id = await story.send(listener, again);
      const [, forwarded] = await eventually(async () => {
        const all = (await story.stage.contact.observed()).filter((one) => one.type === "message");
        expect(all).toHaveLength(2);
        return all;
      });
      expect(forwarded).toMatchObject({ id, content: { caption: "A dot", forwarded: { score: 5 } } });
      expect(Buffer.from((await story.stage.contact.file(id)) ?? [])).toEqual(Buffer.from(DOT));
    });

    it("delivers the items of an album in their order", async () => {
      const listener = await story.pair();
      const album = { id: newMessageId(), images: 3, videos: 0 };
      const ids: MessageId[] = [];
      for (const position of [0, 1, 2])
        ids.push(await story.send(listener, { ...PICTURE, album: { ...album, position } }));
      const items = await eventually(async () => {
        const found = (await story.stage.contact.observed()).flatMap((one) =>
          one.type === "message" && one.content.kind === "media" ? [one] : [],
        );
        expect(found).toHaveLength(3);
        return found;
      });
      expect(items.map(({ id }) => id)).toEqual(ids);
      for (const { content } of items) expect(content).toMatchObject({ album: { id: album.id } });
    });

    it("delivers a reply with what it quotes", async () => {
      const listener = await story.pair();
      const asked = await story.stage.contact.sendMessage(text("Which one?"));
      await listener.message(asked);
      const quoted = { id: asked, from_me: false, sender: story.stage.contact.jid, text: "Which one?" };
      await story.send(listener, { ...text("The red one"), quoted });
      expect((await story.seen("message")).content.quoted).toMatchObject({ id: asked, from_me: true });
    });

    it("edits and withdraws messages, and reacts to them", async () => {
      const listener = await story.pair();
      const { session } = listener;
      const id = await story.send(listener, text("Helo"));
      const target = { chat: story.stage.contact.jid, id, from_me: true };
      const results = [
        await session.edit?.(target, "Hello", { id: newMessageId() }),
        await session.react?.(target, "👍", { id: newMessageId() }),
        await session.deleteForEveryone?.(target, { id: newMessageId() }),
      ];
      expect(results.map((one) => one?.outcome)).toEqual(["accepted", "accepted", "accepted"]);
      expect(await story.seen("edited")).toEqual({ type: "edited", id, text: "Hello" });
      expect(await story.seen("reaction")).toEqual({ type: "reaction", id, reaction: "👍" });
      expect(await story.seen("deleted")).toEqual({ type: "deleted", id });
    });

    it("pins messages in the chat for everyone, and unpins them", async () => {
      const listener = await story.pair();
      const mine = await story.send(listener, text("Open until six"));
      const theirs = await story.stage.contact.sendMessage(text("See you"));
      await listener.message(theirs);
      const chat = story.stage.contact.jid;
      const results = [
        await listener.session.pin?.({ chat, id: mine, from_me: true }, 86_400, { id: newMessageId() }),
        await listener.session.pin?.({ chat, id: theirs, from_me: false }, 604_800, { id: newMessageId() }),
        await listener.session.pin?.({ chat, id: mine, from_me: true }, 0, { id: newMessageId() }),
      ];
      expect(results.map((one) => one?.outcome)).toEqual(["accepted", "accepted", "accepted"]);
      await eventually(async () => {
        const seen = await story.stage.contact.observed();
        expect(seen.filter((one) => one.type === "pinned")).toEqual([
          { type: "pinned", id: mine, seconds: 86_400 },
          { type: "pinned", id: theirs, seconds: 604_800 },
          { type: "pinned", id: mine, seconds: 0 },
        ]);
      });
    });

    it("stars a message, and nobody else sees it", async () => {
      const listener = await story.pair();
      const id = await story.send(listener, text("Remember this"));
      const target = { chat: story.stage.contact.jid, id, from_me: true };
      for (const starred of [true, false]) {
        const result = await listener.session.star?.(target, starred, { id: newMessageId() });
        expect(result?.outcome).toBe("accepted");
      }
      const last = await story.send(listener, text("last"));
      const seen = await eventually(async () => {
        const all = await story.stage.contact.observed();
        expect(all.at(-1)).toMatchObject({ id: last });
        return all;
      });
      expect(seen.map(({ type }) => type)).toEqual(["message", "message"]);
    });

    it("marks a voice note as played", async () => {
      const listener = await story.pair();
      const { contact } = story.stage;
      const note = { ...PICTURE, media_type: "ptt", mime_type: "audio/ogg; codecs=opus" } as const;
      const id = await contact.sendMessage(note);
      await listener.message(id);
      const target = { chat: contact.jid, id, from_me: false };
      const marked = await listener.session.markRead?.(contact.jid, [target], { played: true });
      expect(marked?.outcome).toBe("accepted");
      expect((await story.seen("played")).ids).toEqual([id]);
    });

    it("marks messages as read, and shows its presence", async () => {
      const listener = await story.pair();
      const { session } = listener;
      const id = await story.stage.contact.sendMessage(text("Seen?"));
      await listener.message(id);
      const read = await session.markRead?.(story.stage.contact.jid, [
        { chat: story.stage.contact.jid, id, from_me: false },
      ]);
      expect(read?.outcome).toBe("accepted");
      expect((await story.seen("read")).ids).toEqual([id]);
      expect((await session.setPresence?.("typing", story.stage.contact.jid))?.outcome).toBe("accepted");
    });
  });
}
