import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import type { PasskeyDemand } from "../../../../test/whatsapp-server/control.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { PasskeyOperations, PasskeyStage } from "../../session-operations.ts";
import type { WhatsAppTiming } from "../whatsapp-timing.ts";

let stage: WhatsAppStage;
beforeEach(async () => {
  stage = await startWhatsAppStage();
});
afterEach(() => stage.stop());

/** A session whose QR code a phone with a passkey has scanned; `linked` resolves with the device. */
async function scanned(
  demand: PasskeyDemand = {},
  timing: Partial<WhatsAppTiming> = {},
): Promise<{ listener: RecordingSession; linked: Promise<number>; passkey: PasskeyOperations }> {
  const listener = stage.open({ timing });
  listener.session.connect();
  const { qr } = await listener.waitForEvent("qr");
  const linked = stage.control.scanWithPasskey(stage.phone.number, qr, demand);
  linked.catch(() => {});
  return { listener, linked, passkey: listener.session.passkey as PasskeyOperations };
}

const stages = (listener: RecordingSession): PasskeyStage[] =>
  listener.all("passkey_required").map(({ passkey }) => passkey.stage);

const comesTo = (listener: RecordingSession, last: PasskeyStage): Promise<void> =>
  eventually(() => expect(stages(listener).at(-1)).toBe(last));

/** The signature of a browser on web.whatsapp.com for the newest challenge. */
async function sign(listener: RecordingSession) {
  await comesTo(listener, "required");
  const { options } = listener.all("passkey_required").at(-1)?.passkey ?? {};
  return stage.control.signPasskey(stage.phone.number, options ?? {});
}

describe("an account that requires its passkey", () => {
  it.each(["sent", "absent", "broken"] as const)(
    "is linked by QR when its options are %s, and is online after that",
    async (options) => {
      const { listener, linked, passkey } = await scanned({ options });
      expect(await passkey.submitAssertion(await sign(listener))).toEqual({
        outcome: "done",
        value: "awaiting_phone",
      });
      expect(await linked).toBeGreaterThan(0);
      await listener.waitForEvent("connected");
      expect(stages(listener)).toEqual(["required", "awaiting_phone", "finishing"]);
      const acks = (await stage.control.registrationStanzas()).filter(({ tag }) => tag === "ack");
      expect(acks.map(({ attrs }) => attrs)).toMatchObject([
        { class: "notification", type: "passkey_prologue_request", to: "s.whatsapp.net" },
        { class: "notification", type: "crsc_continuation", to: "s.whatsapp.net" },
      ]);
    },
  );

  it("is linked by pairing code", async () => {
    await stage.control.fault({ fault: "passkey_after_code" });
    const listener = stage.open();
    listener.session.connect({ pairingPhone: stage.phone.number });
    const { code } = await listener.waitForEvent("pairing_code");
    const linked = stage.control.enterCode(stage.phone.number, code);
    const assertion = await sign(listener);
    expect(await listener.session.passkey?.submitAssertion(assertion)).toMatchObject({ outcome: "done" });
    expect(await linked).toBeGreaterThan(0);
    await listener.waitForEvent("connected");
  });

  it("is linked after a comparison of the codes when the scan was too long ago", async () => {
    const { listener, linked, passkey } = await scanned({}, { passkeyHandoffMs: 0 });
    await passkey.submitAssertion(await sign(listener));
    await comesTo(listener, "confirmation_required");
    const code = listener.all("passkey_required").at(-1)?.passkey.code;
    expect(code).toBe(await stage.control.passkeyCode(stage.phone.number));
    expect(listener.all("connected")).toEqual([]);
    expect(await passkey.confirm()).toMatchObject({ outcome: "done" });
    await linked;
    await listener.waitForEvent("connected");
  });

  it("shows no further QR code while it waits, and outlives the time of all QR codes", async () => {
    // The first one lasts long enough to be scanned.
    const timing = { firstQrMs: 480, laterQrMs: 5 };
    const { listener, linked, passkey } = await scanned({}, timing);
    const assertion = await sign(listener);
    const shown = listener.all("qr").length;
    const unscanned = stage.open({ timing });
    unscanned.session.connect();
    await unscanned.waitForEvent("qr_expired");
    expect(listener.all("qr")).toHaveLength(shown);
    await passkey.submitAssertion(assertion);
    await linked;
    await listener.waitForEvent("connected");
  });

  it("can sign again when WhatsApp refuses the assertion", async () => {
    const { listener, linked, passkey } = await scanned({ refusals: [401] });
    const refused = await passkey.submitAssertion(await sign(listener));
    expect(refused).toMatchObject({ outcome: "refused", code: "SEND_FAILED" });
    await passkey.submitAssertion(await sign(listener));
    await linked;
    await listener.waitForEvent("connected");
  });

  it.each<[string, PasskeyDemand, Partial<WhatsAppTiming>, string]>([
    ["is cut off", { response: "cut" }, {}, "passkey_interrupted"],
    ["hears nothing of the phone", { response: "never" }, { passkeyResponseMs: 50 }, "passkey_no_answer"],
    ["gets a short key", { response: "short_key" }, {}, "passkey_failed"],
    ["gets a long nonce", { response: "long_nonce" }, {}, "passkey_failed"],
    ["gets a key that is none", { response: "weak_key" }, {}, "passkey_failed"],
  ])("ends with an explanation when it %s, and can start again", async (_, demand, timing, code) => {
    const { listener, passkey } = await scanned(demand, timing);
    await passkey.submitAssertion(await sign(listener));
    const ended = await listener.waitForEvent("disconnected");
    expect(ended).toMatchObject({ reason: "pairing_failed", will_retry: false, error: { code } });
    expect(ended.error?.action).toContain("onnect again");
    expect(await listener.credentials.load()).toBeUndefined();
    listener.session.connect();
    await listener.waitForEvent("qr", 2);
  });

  it("ends with an explanation when the connection ends before a signature, and on cancel", async () => {
    const { listener, passkey } = await scanned();
    await comesTo(listener, "required");
    await stage.control.endRegistrations();
    expect(await listener.waitForEvent("disconnected")).toMatchObject({
      error: { code: "passkey_interrupted" },
    });
    listener.session.connect();
    const { qr } = await listener.waitForEvent("qr", 2);
    void stage.control.scanWithPasskey(stage.phone.number, qr).catch(() => {});
    await eventually(() => expect(stages(listener)).toHaveLength(2));
    expect(await passkey.cancel()).toMatchObject({ outcome: "done" });
    expect(await listener.waitForEvent("disconnected", 2)).toMatchObject({
      error: { code: "passkey_cancelled" },
    });
    expect(await passkey.confirm()).toMatchObject({ outcome: "refused", code: "CONFLICT" });
  });

  it("ignores a request that does not come from WhatsApp", async () => {
    const listener = stage.open();
    listener.session.connect();
    const { qr } = await listener.waitForEvent("qr");
    const attrs = { type: "passkey_prologue_request", from: "5511900000000@s.whatsapp.net", id: "1" };
    await stage.control.push("unpaired", { tag: "notification", attrs });
    await stage.control.scan(stage.phone.number, qr);
    await listener.waitForEvent("connected");
    expect(stages(listener)).toEqual([]);
  });

  it("keeps the secret that the phone has received when WhatsApp retires it meanwhile", async () => {
    const { listener, linked, passkey } = await scanned();
    const assertion = await sign(listener);
    const submitted = passkey.submitAssertion(assertion);
    await comesTo(listener, "finishing");
    await stage.control.refreshRegistration({ child: "companion_reg_refresh" });
    await submitted;
    await linked;
    await listener.waitForEvent("connected");
  });
});
