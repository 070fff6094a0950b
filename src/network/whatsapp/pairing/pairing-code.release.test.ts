import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import {
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
  type WhatsAppStageOptions,
} from "../../../../test/whatsapp-stage.ts";
import { parseCredentials } from "../keys/baileys-credentials.ts";
import { WHATSAPP_TIMING } from "../whatsapp-timing.ts";

let stage: WhatsAppStage;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});
afterEach(() => stage.stop());

interface Asking {
  listener: RecordingSession;
  store: MemoryCredentials;
  code(nth?: number): Promise<string>;
}

/** A session that requests a pairing code. */
function ask(options: WhatsAppStageOptions = {}): Asking {
  const store = storeInMemory();
  const listener = stage.open(options, { credentials: store });
  listener.session.connect({ pairingPhone: stage.phone.number });
  return { listener, store, code: async (nth) => (await listener.waitForEvent("pairing_code", nth)).code };
}

const enter = (code: string, options?: { ref?: string }) =>
  stage.control.enterCode(stage.phone.number, code, options);
const OTHER_CODE = "12345678";

async function acks(): Promise<(string | undefined)[]> {
  const stanzas = await stage.control.registrationStanzas();
  return stanzas.filter(({ tag }) => tag === "ack").map(({ attrs }) => attrs.type);
}

describe("a pairing code", () => {
  it("is valid for 180 seconds after its generation, and is reported with that time", async () => {
    expect(WHATSAPP_TIMING).toMatchObject({ codeMs: 180_000, codeEntries: 3, codes: 3 });
    await stage.control.fault({ fault: "code_delayed", ms: 300 });
    const before = Date.now();
    const { listener, code } = ask();
    expect(await code()).toMatch(/^[1-9A-HJ-NP-TV-Z]{8}$/);
    const shown = Date.now();
    const { expires_at } = await listener.waitForEvent("pairing_code");
    expect(expires_at.getTime()).toBeGreaterThanOrEqual(before + 180_000);
    expect(expires_at.getTime()).toBeLessThanOrEqual(shown - 300 + 180_000);
    await enter(await code());
    await listener.waitForEvent("connected");
  });

  it.each([
    [400, "bad-request", "number_refused"],
    [400, "feature-not-available", "number_refused"],
    [403, "forbidden", "code_forbidden"],
    [429, "rate-overlimit", "rate_limited"],
    [405, "not-allowed", "client_outdated"],
    [409, "conflict", "pairing_unavailable"],
    [500, "internal-server-error", "pairing_unavailable"],
  ])("that WhatsApp refuses with %s %s is never shown: %s", async (code, text, expected) => {
    await stage.control.fault({ fault: "code_refused", code, text });
    const { listener } = ask();
    const { reason, will_retry, error } = await listener.waitForEvent("disconnected");
    expect([reason, will_retry, error?.code]).toEqual(["pairing_failed", false, expected]);
    expect(error?.action).toMatch(/\.$/);
    expect((error?.retry_at?.getTime() ?? 0) > Date.now() + 3_600_000).toBe(code === 429);
    expect(listener.all("pairing_code")).toEqual([]);
  });

  it("is not shown when WhatsApp never responds", async () => {
    await stage.control.fault({ fault: "code_delayed", ms: 3_600_000 });
    const { listener } = ask({ timing: { queryMs: 50 } });
    expect((await listener.waitForEvent("disconnected")).error?.code).toBe("pairing_unavailable");
    expect(listener.all("pairing_code")).toEqual([]);
  });

  it("outlives the time of all QR codes, and expires at its own time", async () => {
    const timing = { firstQrMs: 20, laterQrMs: 20, codeMs: 600 };
    const { listener, code } = ask({ timing });
    await code();
    const { error } = await listener.waitForEvent("qr_expired");
    expect(error?.code).toBe("code_expired");
    expect(Date.now()).toBeGreaterThanOrEqual(
      (await listener.waitForEvent("pairing_code")).expires_at.getTime(),
    );
    expect((await stage.control.ledger()).sockets).toHaveLength(1);
  });

  it("ends with its connection, and the next connection generates another one", async () => {
    const { listener, code } = ask();
    const first = await code();
    await stage.control.endRegistrations();
    expect(await listener.waitForEvent("disconnected")).toMatchObject({ will_retry: true });
    const second = await code(2);
    expect(second).not.toBe(first);
    await expect(enter(first)).rejects.toThrow("the code is wrong");
    await enter(second);
    await listener.waitForEvent("connected");
  });

  it("is generated three times at most while connections are lost", async () => {
    const { listener, code } = ask();
    for (let nth = 1; nth <= 3; nth++) {
      await code(nth);
      await stage.control.endRegistrations();
      await listener.waitForEvent("disconnected", nth);
    }
    const last = listener.all("disconnected").at(-1);
    expect([last?.will_retry, last?.error?.code]).toEqual([false, "connection_failed"]);
    expect(listener.all("pairing_code")).toHaveLength(3);
  });

  it("that is entered wrongly can be entered again, and the failure is reported", async () => {
    const { listener, code } = ask();
    const shown = await code();
    await expect(enter(OTHER_CODE)).rejects.toThrow("the code is wrong");
    expect((await listener.waitForEvent("pairing_failed")).error.code).toBe("wrong_code");
    await enter(shown);
    await listener.waitForEvent("connected");
    expect(listener.all("pairing_code")).toHaveLength(1);
  });

  it("expires after three wrong entries", async () => {
    const { listener, code } = ask();
    await code();
    for (let entry = 0; entry < 3; entry++) await expect(enter(OTHER_CODE)).rejects.toThrow();
    const { reason, error } = await listener.waitForEvent("disconnected");
    expect([reason, error?.code]).toEqual(["pairing_failed", "wrong_code"]);
    expect(listener.all("pairing_failed")).toHaveLength(2);
  });

  it("with a last step that WhatsApp refuses counts as wrong", async () => {
    await stage.control.fault({ fault: "finish_refused", code: 404, text: "item-not-found" });
    const { listener, code } = ask();
    await expect(enter(await code())).rejects.toThrow("refused the last step");
    expect((await listener.waitForEvent("pairing_failed")).error.code).toBe("wrong_code");
  });

  it.each([
    [429, "rate-overlimit"],
    [500, "internal-server-error"],
  ])(
    "with a last step that fails at WhatsApp for another reason, %i %s, is not called wrong",
    async (code, text) => {
      await stage.control.fault({ fault: "finish_refused", code, text });
      const { listener, code: shown } = ask();
      await expect(enter(await shown())).rejects.toThrow("refused the last step");
      expect((await listener.waitForEvent("pairing_failed")).error).toMatchObject({
        code: "pairing_unavailable",
        message: `WhatsApp refused the code with error ${code}.`,
      });
      await enter(await shown());
      await listener.waitForEvent("connected");
    },
  );

  it("with the reference of another pairing gets no response", async () => {
    const { listener, store, code } = ask();
    const shown = await code();
    const before = readSecret(await store.loadRegistration());
    void enter(shown, { ref: "ref-of-another" });
    await eventually(async () => expect(await acks()).toEqual(["link_code_companion_reg"]));
    expect(readSecret(await store.loadRegistration())).toBe(before);
    await enter(shown);
    await listener.waitForEvent("connected");
  });

  it("survives the notification without content that an opened menu sends", async () => {
    const { listener, code } = ask();
    const shown = await code();
    await stage.control.push("unpaired", {
      tag: "notification",
      attrs: { from: "s.whatsapp.net", id: "menu", type: "link_code_companion_reg" },
    });
    await eventually(async () => expect(await acks()).toEqual(["link_code_companion_reg"]));
    await enter(shown);
    await listener.waitForEvent("connected");
  });

  it("that is entered twice gets two responses, and links with the later key agreement", async () => {
    await stage.control.fault({ fault: "consent_held", times: 2 });
    const { listener, store, code } = ask();
    const shown = await code();
    const secrets = [];
    for (let entry = 0; entry < 2; entry++) {
      const before = readSecret(await store.loadRegistration());
      void enter(shown);
      await eventually(async () => expect(readSecret(await store.loadRegistration())).not.toBe(before));
      secrets.push(readSecret(await store.loadRegistration()));
    }
    expect(new Set(secrets).size).toBe(2);
    await eventually(async () => expect((await finishes()).length).toBe(2));
    await eventually(() => stage.control.giveConsent(stage.phone.number));
    await listener.waitForEvent("connected");
  });

  it("that the phone accepts silently names the device limit, and a late consent still links", async () => {
    await stage.control.fault({ fault: "consent_held" });
    const { listener, code } = ask({ timing: { consentMs: 100 } });
    void enter(await code());
    const { error } = await listener.waitForEvent("pairing_failed");
    expect(error).toMatchObject({
      code: "link_not_completed",
      message: expect.stringContaining("limit of linked devices"),
    });
    expect(listener.all("disconnected")).toEqual([]);
    await stage.control.giveConsent(stage.phone.number);
    await listener.waitForEvent("connected");
  });

  it("that the phone accepted silently ends with that reason when its time is over", async () => {
    // Longer if the code was entered after its end.
    for (let codeMs = 1_500; codeMs < 60_000; codeMs *= 3) {
      await stage.control.fault({ fault: "consent_held" });
      const { listener, code } = ask({ timing: { consentMs: 100, codeMs } });
      void enter(await code()).catch(() => undefined);
      const end = await eventually(() => {
        const found = [...listener.all("disconnected"), ...listener.all("qr_expired")][0];
        expect(found).toBeDefined();
        return found;
      });
      if (end?.type === "qr_expired") continue;
      expect([end?.reason, end?.error?.code]).toEqual(["pairing_failed", "link_not_completed"]);
      return;
    }
    expect.fail("No code was entered in time.");
  });

  it("is not invalidated by a phone's message that cannot be read", async () => {
    await stage.control.fault({ fault: "consent_held" });
    const { listener, store, code } = ask();
    void enter(await code());
    await eventually(async () => expect(await finishes()).toHaveLength(1));
    const agreed = readSecret(await store.loadRegistration());
    const { ref } = await stage.control.pairingCode(stage.phone.number);
    await stage.control.push("unpaired", {
      tag: "notification",
      attrs: { from: "s.whatsapp.net", id: "short", type: "link_code_companion_reg" },
      content: [
        {
          tag: "link_code_companion_reg",
          attrs: { stage: "primary_hello" },
          content: [
            { tag: "link_code_pairing_wrapped_primary_ephemeral_pub", attrs: {}, content: Buffer.alloc(79) },
            { tag: "primary_identity_pub", attrs: {}, content: Buffer.alloc(32) },
            { tag: "link_code_pairing_ref", attrs: {}, content: Buffer.from(ref) },
          ],
        },
      ],
    });
    await eventually(async () => expect(await acks()).toHaveLength(2));
    expect(readSecret(await store.loadRegistration())).toBe(agreed);
    await stage.control.giveConsent(stage.phone.number);
    await listener.waitForEvent("connected");
  });

  it("is replaced by another when WhatsApp requests that", async () => {
    const { listener, code } = ask();
    const first = await code();
    await stage.control.refreshCode(stage.phone.number);
    const second = await code(2);
    expect(second).not.toBe(first);
    await enter(second);
    await listener.waitForEvent("connected");
  });

  it("expires when WhatsApp wants a new attempt, but not for another pairing's reference", async () => {
    const { listener, code } = ask();
    await code();
    await stage.control.refreshCode(stage.phone.number, { manual: true, ref: "ref-of-another" });
    await eventually(async () => expect(await acks()).toHaveLength(1));
    expect(listener.all("disconnected")).toEqual([]);
    await stage.control.refreshCode(stage.phone.number, { manual: true });
    expect((await listener.waitForEvent("disconnected")).error?.code).toBe("code_withdrawn");
    expect(listener.all("pairing_code")).toHaveLength(1);
  });

  it("is shown on the phone as a system that WhatsApp knows, also where a name is set", async () => {
    const listener = stage.open({}, { deviceName: "Acme Support" });
    listener.session.connect({ pairingPhone: stage.phone.number });
    await enter((await listener.waitForEvent("pairing_code")).code);
    await listener.waitForEvent("connected");
    expect((await stage.control.person(stage.phone.number)).devices).toMatchObject([{ name: "Mac OS" }]);
  });

  it("has each notification acknowledged once", async () => {
    const { listener, code } = ask();
    await enter(await code());
    await listener.waitForEvent("connected");
    expect(await acks()).toEqual(["link_code_companion_reg"]);
  });
});

describe("a pairing secret that WhatsApp retires while a code is shown", () => {
  it("is rotated before the code is entered, and the code still links", async () => {
    const { listener, store, code } = ask();
    const shown = await code();
    const before = readSecret(await store.loadRegistration());
    await stage.control.refreshRegistration();
    await eventually(async () => expect(await acks()).toEqual(["companion_reg_refresh"]));
    expect(readSecret(await store.loadRegistration())).not.toBe(before);
    expect(listener.all("qr")).toEqual([]);
    await enter(shown);
    await listener.waitForEvent("connected");
  });

  it("is rotated while WhatsApp has not yet accepted the code", async () => {
    await stage.control.fault({ fault: "code_delayed", ms: 300 });
    const { listener, code } = ask();
    await eventually(async () => expect(await hellos()).toHaveLength(1));
    await stage.control.refreshRegistration();
    await eventually(async () => expect(await acks()).toEqual(["companion_reg_refresh"]));
    expect(listener.all("pairing_code")).toEqual([]);
    await enter(await code());
    await listener.waitForEvent("connected");
  });

  it("is not rotated while a consent may be in transit", async () => {
    await stage.control.fault({ fault: "consent_held" });
    const { listener, store, code } = ask();
    void enter(await code());
    await eventually(async () => expect(await finishes()).toHaveLength(1));
    const agreed = readSecret(await store.loadRegistration());
    await stage.control.refreshRegistration();
    await eventually(async () => expect(await acks()).toContain("companion_reg_refresh"));
    expect(readSecret(await store.loadRegistration())).toBe(agreed);
    await eventually(() => stage.control.giveConsent(stage.phone.number));
    await listener.waitForEvent("connected");
  });

  it("is rotated later when WhatsApp withdraws the code", async () => {
    await stage.control.fault({ fault: "consent_held" });
    const { listener, store, code } = ask();
    const shown = await code();
    void enter(shown);
    await eventually(async () => expect(await finishes()).toHaveLength(1));
    await stage.control.refreshRegistration();
    await eventually(async () => expect(await acks()).toContain("companion_reg_refresh"));
    const agreed = readSecret(await store.loadRegistration());
    await stage.control.refreshCode(stage.phone.number);
    await listener.waitForEvent("pairing_code", 2);
    expect(readSecret(await store.loadRegistration())).not.toBe(agreed);
  });

  it("is rotated after a kill that happened before the consent", async () => {
    await stage.control.fault({ fault: "consent_held" });
    const { listener, store, code } = ask();
    void enter(await code());
    await eventually(async () => expect(await finishes()).toHaveLength(1));
    await stage.control.refreshRegistration();
    await eventually(async () => expect(await acks()).toContain("companion_reg_refresh"));
    const agreed = readSecret(await store.loadRegistration());
    stage.abandon(listener);
    const again = stage.open({}, { credentials: store });
    again.session.connect();
    await again.waitForEvent("qr");
    expect(readSecret(await store.loadRegistration())).not.toBe(agreed);
  });
});

const iqs = async (stage_: string) =>
  (await stage.control.registrationStanzas()).filter(({ attrs }) => attrs.stage === stage_);
const hellos = () => iqs("companion_hello");
const finishes = () => iqs("companion_finish");

/** The pairing secret in a stored registration. */
function readSecret(registration: Uint8Array | undefined): string {
  const { creds } = JSON.parse(Buffer.from(registration ?? "").toString());
  return parseCredentials(Buffer.from(creds, "base64")).advSecretKey;
}
