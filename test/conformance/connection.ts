import { describe, expect, it } from "vitest";
import { newMessageId } from "../../src/network/jid.ts";
import { text } from "./contents.ts";
import type { DriverStory } from "./driver-story.ts";

/** The part of the suite about the lifecycle of a connection. */
export function describeConnection(story: DriverStory): void {
  describe("connection of a session", () => {
    it("logs in with a stored identity and shows no QR code", async () => {
      const first = await story.pair();
      await first.session.disconnect();
      const second = story.open(first.credentials);
      second.session.connect();
      const { me } = await second.waitForEvent("connected");
      expect([me.phone, second.all("qr")]).toEqual([story.stage.phone.number, []]);
    });

    it("connects once, however often it is requested", async () => {
      const listener = story.open();
      for (let i = 0; i < 3; i++) listener.session.connect();
      await story.stage.phone.scan((await listener.waitForEvent("qr")).qr);
      await listener.waitForEvent("connected");
      listener.session.connect();
      await listener.message(await story.stage.contact.sendMessage(text("still one?")));
      expect([listener.all("qr").length, listener.all("connected").length]).toEqual([1, 1]);
    });

    it("reconnects by itself after the connection is lost", async () => {
      const listener = await story.pair();
      await story.stage.phone.drop();
      const lost = await listener.waitForEvent("disconnected");
      expect(lost).toMatchObject({ reason: "connection_lost", will_retry: true });
      await listener.waitForEvent("connected", 2);
      await story.send(listener, text("back"));
      expect(listener.all("qr")).toHaveLength(1);
    });

    it("is replaced by a second session with the same identity and does not reconnect", async () => {
      const first = await story.pair();
      const second = story.open(first.credentials);
      second.session.connect();
      await second.waitForEvent("connected");
      const replaced = await first.waitForEvent("disconnected");
      expect(replaced).toMatchObject({ reason: "replaced", will_retry: false });
      const result = await first.session.send(story.stage.contact.jid, text("me too"), {
        id: newMessageId(),
      });
      expect(result).toMatchObject({ outcome: "not_sent", is_offline: true });
      await second.message(await story.stage.contact.sendMessage(text("to the second")));
      expect(first.all("connected")).toHaveLength(1);
    });

    it("keeps the identity when it is disconnected, and sends nothing then", async () => {
      const listener = await story.pair();
      await listener.session.disconnect();
      expect(await listener.credentials.load()).toBeDefined();
      const result = await listener.session.send(story.stage.contact.jid, text("too late"), {
        id: newMessageId(),
      });
      expect(result).toMatchObject({ outcome: "not_sent", is_offline: true });
      listener.session.connect();
      await listener.waitForEvent("connected", 2);
    });

    it("deletes the identity on logout, and pairs anew", async () => {
      const listener = await story.pair();
      await listener.session.logout();
      expect(await listener.credentials.load()).toBeUndefined();
      expect(listener.all("logged_out")).toEqual([]);
      listener.session.connect();
      await listener.waitForEvent("qr", 2);
    });

    it("reports that the phone has unlinked it", async () => {
      const listener = await story.pair();
      await story.stage.phone.unlink();
      await listener.waitForEvent("logged_out");
      expect(await listener.credentials.load()).toBeUndefined();
    });

    it("reports at the next login that it was unlinked while it was offline", async () => {
      const listener = await story.pair();
      await listener.session.disconnect();
      await story.stage.phone.unlink();
      listener.session.connect();
      await listener.waitForEvent("logged_out");
      expect(listener.all("connected")).toHaveLength(1);
    });

    it("reports that it is banned, and does not reconnect", async () => {
      const listener = await story.pair();
      await story.stage.phone.ban();
      await listener.waitForEvent("banned");
      listener.session.connect();
      await listener.waitForEvent("banned", 2);
      expect(listener.all("connected")).toHaveLength(1);
    });
  });
}
