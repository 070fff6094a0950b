import { describe, expect, it } from "vitest";
import type { DriverStory } from "./driver-story.ts";

/** The part of the suite about how a session is paired. */
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
