import { describe, expect, it } from "vitest";
import type { Content, MediaContent, MessageId } from "../../src/network/driver.ts";
import type { DriverStory } from "./driver-story.ts";
import { DOT, PICTURE, text } from "./driver-story.ts";
import { downloadWhole, eventually } from "./listener.ts";

export function describeReceiving(story: DriverStory): void {
  describe("receiving messages", () => {
    it("reports a text once, with its author", async () => {
      const listener = await story.pair();
      const id = await story.stage.contact.sendMessage(text("Oi!"));
      const message = await listener.message(id);
      expect(message).toMatchObject({
        chat: story.stage.contact.jid,
        chat_type: "contact",
        from_me: false,
        sender: {
          jid: story.stage.contact.jid,
          phone: story.stage.contact.number,
          lid: expect.stringMatching(/@lid$/),
        },
        content: text("Oi!"),
        at: expect.any(Date),
      });
      expect(message.offline).toBeUndefined();
      // The network sends the next message of a chat only after the previous receipt.
      await listener.message(await story.stage.contact.sendMessage(text("Next")));
      await story.stage.phone.drop();
      await listener.waitForEvent("connected", 2);
      await listener.message(await story.stage.contact.sendMessage(text("More")));
      expect(listener.countEvents(id)).toBe(1);
    });

    it("reports messages again that were not stored when the connection broke", async () => {
      const listener = await story.pair();
      let held = 0;
      listener.gate = async (event) => {
        if (event.type !== "message" || held > 0) return;
        held++;
        await new Promise(() => undefined);
      };
      const id = await story.stage.contact.sendMessage(text("Hold me"));
      await eventually(() => expect(held).toBe(1));
      await story.stage.phone.drop();
      const message = await listener.message(id);
      expect(message).toMatchObject({ id, offline: true });
    });

    it("reports messages again that the gateway failed to store", async () => {
      const listener = await story.pair();
      let failures = 0;
      let isAway = true;
      listener.gate = async (event) => {
        if (event.type !== "message" || !isAway) return;
        failures++;
        throw new Error("the database is unavailable");
      };
      const id = await story.stage.contact.sendMessage(text("Try again"));
      await eventually(() => expect(failures).toBeGreaterThan(0));
      await story.stage.phone.drop();
      await listener.waitForEvent("disconnected");
      isAway = false;
      await listener.message(id);
      expect(listener.countEvents(id)).toBe(1);
    });

    it("keeps the order of a chat, even when some reports take long", async () => {
      const listener = await story.pair();
      let nth = 0;
      listener.gate = async (event) => {
        if (event.type === "message") await new Promise((done) => setTimeout(done, nth++ % 3));
      };
      const ids: MessageId[] = [];
      for (let i = 0; i < 20; i++) ids.push(await story.stage.contact.sendMessage(text(`no. ${i}`)));
      await eventually(() => expect(listener.all("message").map((one) => one.message.id)).toEqual(ids));
    });

    it("reports the messages that arrived while it was offline, in order", async () => {
      const listener = await story.pair();
      await listener.session.disconnect();
      const ids = [
        await story.stage.contact.sendMessage(text("one")),
        await story.stage.contact.sendMessage(text("two")),
      ];
      listener.session.connect();
      await eventually(() => {
        const messages = listener.all("message").map(({ message }) => [message.id, message.offline]);
        expect(messages).toEqual(ids.map((id) => [id, true]));
      });
    });

    it("reports a message of a group with its author", async () => {
      const listener = await story.pair();
      const id = await story.stage.contact.sendMessage(text("Hi all"), { group: true });
      const message = await listener.message(id);
      expect(message.chat).toMatch(/@g\.us$/);
      expect(message).toMatchObject({ chat_type: "group", sender: { phone: story.stage.contact.number } });
    });

    it.each<[string, Content]>([
      ["a location", { kind: "location", latitude: 1.5, longitude: 2.5 }],
      ["a contact", { kind: "contact", name: "Bia", phone: "5511999990001" }],
    ])("reports %s", async (_, content) => {
      const listener = await story.pair();
      const message = await listener.message(await story.stage.contact.sendMessage(content));
      expect(message.content).toMatchObject(content);
    });

    it("reports a file whose bytes can be fetched until the network deletes them", async () => {
      const listener = await story.pair();
      const { content } = await listener.message(await story.stage.contact.sendMessage(PICTURE));
      expect(content).toMatchObject({ kind: "media", media_type: "image", caption: "A dot", size: 4 });
      const ref = structuredClone((content as MediaContent).ref);
      expect(await downloadWhole(listener.session, ref)).toEqual(Buffer.from(DOT));
      await story.stage.expireFiles();
      expect(await downloadWhole(listener.session, ref)).toBeUndefined();
    });

    it("reports a file that phones show once, where the network gives it", async () => {
      const listener = await story.pair();
      const once = await listener.message(
        await story.stage.contact.sendMessage({ ...PICTURE, view_once: true }),
      );
      expect(once.content).toMatchObject({ media_type: "image", view_once: true });
      expect(await downloadWhole(listener.session, (once.content as MediaContent).ref)).toEqual(
        Buffer.from(DOT),
      );
    });

    it("reports the items of an album with the album and their places in it", async () => {
      const listener = await story.pair();
      const album = { id: "3EB0A1B0" as MessageId, position: 1 };
      const sent = await story.stage.contact.sendMessage({ ...PICTURE, album });
      expect((await listener.message(sent)).content).toMatchObject({ media_type: "image", album });
    });

    it("reports a reply with what it quotes", async () => {
      const listener = await story.pair();
      const id = await story.send(listener, text("Red or blue?"));
      const quoted = { id, from_me: false, text: "Red or blue?" };
      const { content } = await listener.message(
        await story.stage.contact.sendMessage({ ...text("Blue"), quoted }),
      );
      expect(content.quoted).toMatchObject({ id, from_me: true, text: "Red or blue?" });
    });

    it("reports edits, deletions, reactions and phone calls", async () => {
      const listener = await story.pair();
      const id = await story.stage.contact.sendMessage(text("Helo"));
      await story.stage.contact.editMessage(id, "Hello");
      await story.stage.contact.deleteMessage(id);
      const mine = await story.send(listener, text("mine"));
      await story.stage.contact.reactTo(mine, "❤️");
      await story.stage.contact.startPhoneCall();
      const by = { phone: story.stage.contact.number };
      const chat = story.stage.contact.jid;
      expect(await listener.waitForEvent("message_edited")).toMatchObject({ chat, id, text: "Hello", by });
      expect(await listener.waitForEvent("message_deleted")).toMatchObject({ chat, id, from_me: false, by });
      expect(await listener.waitForEvent("message_reaction")).toMatchObject({
        chat,
        id: mine,
        from_me: true,
        reaction: "❤️",
        by,
      });
      expect((await listener.waitForEvent("call_received")).from.phone).toBe(story.stage.contact.number);
    });

    it("reports that the phone stars a message, and removes the star", async () => {
      const listener = await story.pair();
      const id = await story.stage.contact.sendMessage(text("Remember this"));
      await listener.message(id);
      await story.stage.phone.star(id, true);
      const about = { chat: story.stage.contact.jid, id, from_me: false };
      expect(await listener.waitForEvent("message_starred")).toMatchObject({ ...about, starred: true });
      await story.stage.phone.star(id, false);
      expect(await listener.waitForEvent("message_starred", 2)).toMatchObject({ ...about, starred: false });
    });

    it("reports that the other person pins a message, and unpins it", async () => {
      const listener = await story.pair();
      const mine = await story.send(listener, text("Open until six"));
      await story.stage.contact.pin(mine, 86_400);
      await story.stage.contact.pin(mine, 0);
      const about = {
        chat: story.stage.contact.jid,
        id: mine,
        from_me: true,
        by: { phone: story.stage.contact.number },
      };
      expect(await listener.waitForEvent("message_pinned")).toMatchObject({ ...about, seconds: 86_400 });
      expect(await listener.waitForEvent("message_pinned", 2)).toMatchObject({ ...about, seconds: 0 });
    });
  });
}
