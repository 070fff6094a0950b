import { describe, expect, it } from "vitest";
import { newMessageId } from "../../src/network/jid.ts";
import { DriverStory, text } from "./driver-story.ts";
import { describeReceiving } from "./receiving.ts";
import { describeSending } from "./sending.ts";
import type { DriverHarness, DriverHarnessOptions } from "./stage.ts";

/** The suite for every driver. `start` creates a network on which only the contact is paired. */
export function describeDriver(
  name: string,
  start: (options?: DriverHarnessOptions) => Promise<DriverHarness>,
): void {
  describe(`${name} driver`, () => {
    const story = new DriverStory(start);
    describePairing(story);
    describeConnection(story);
    describeSending(story);
    describeReceiving(story);
  });
}

export function describePairing(story: DriverStory): void {
  describe("pairing", () => {
    it("shows a QR code, and is connected with the phone's identity once it is scanned", async () => {
      const listener = story.open();
      listener.session.connect();
      const { qr, attempt, max_attempts, expires_at } = await listener.waitForEvent("qr");
      expect([qr.length > 0, attempt, max_attempts > 1]).toEqual([true, 1, true]);
      expect(expires_at.getTime()).toBeGreaterThan(Date.now());
      await story.stage.phone.scan(qr);
      const { me } = await listener.waitForEvent("connected");
      expect(me).toMatchObject({
        jid: `${story.stage.phone.number}@s.whatsapp.net`,
        phone: story.stage.phone.number,
        lid: expect.stringMatching(/^\d+@lid$/),
      });
      expect(me.lid).not.toContain(story.stage.phone.number);
    });

    it("stores the identity before it reports that it is connected", async () => {
      const listener = story.open();
      let kept: Uint8Array | undefined;
      listener.gate = async (event) => {
        if (event.type === "connected") kept = await listener.credentials.load();
      };
      await listener.pair(story.stage.phone);
      expect(kept?.byteLength).toBeGreaterThan(0);
    });

    it("stays unpaired when the identity cannot be stored", async () => {
      const store = story.stage.credentials();
      const listener = story.open({
        ...store,
        save: () => Promise.reject(new Error("another process owns it")),
      });
      listener.session.connect();
      await story.stage.phone.scan((await listener.waitForEvent("qr")).qr);
      const { will_retry } = await listener.waitForEvent("disconnected");
      expect([will_retry, listener.all("connected").length]).toEqual([false, 0]);
    });

    it("stops after its maximum number of QR codes, and starts again on request", async () => {
      await story.restart({ shortQr: true });
      const listener = story.open();
      listener.session.connect();
      await listener.waitForEvent("qr_expired");
      const qrs = listener.all("qr");
      expect(qrs.map((one) => one.attempt)).toEqual(qrs.map((_, i) => i + 1));
      expect(qrs).toHaveLength(qrs[0]?.max_attempts ?? 0);
      expect(new Set(qrs.map((one) => one.qr)).size).toBe(qrs.length);
      listener.session.connect();
      expect((await listener.waitForEvent("qr", qrs.length + 1)).attempt).toBe(1);
    });

    it("returns a pairing code in place of a QR code when the phone number is given", async () => {
      const listener = story.open();
      listener.session.connect({ pairingPhone: story.stage.phone.number });
      const { code } = await listener.waitForEvent("pairing_code");
      await story.stage.phone.enterCode(code);
      const { me } = await listener.waitForEvent("connected");
      expect([me.phone, listener.all("qr")]).toEqual([story.stage.phone.number, []]);
    });

    it("switches from QR codes to a pairing code on request", async () => {
      const listener = story.open();
      listener.session.connect();
      await listener.waitForEvent("qr");
      listener.session.connect({ pairingPhone: story.stage.phone.number });
      await story.stage.phone.enterCode((await listener.waitForEvent("pairing_code")).code);
      await listener.waitForEvent("connected");
      expect(listener.all("disconnected")).toEqual([]);
    });
  });
}

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
