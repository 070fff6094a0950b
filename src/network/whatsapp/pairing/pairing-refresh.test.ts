import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { parseQr } from "../../../../test/whatsapp-server/pairing/pairing.ts";
import {
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
  type WhatsAppStageOptions,
} from "../../../../test/whatsapp-stage.ts";

let stage: WhatsAppStage;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});
afterEach(() => stage.stop());

interface Showing {
  listener: RecordingSession;
  store: MemoryCredentials;
  /** The nth QR code. */
  qr(nth: number): Promise<ReturnType<typeof parseQr> & { text: string; reason: string; attempt: number }>;
}

/** A session that shows its first QR code. */
async function show(options: WhatsAppStageOptions = {}, store = storeInMemory()): Promise<Showing> {
  const listener = stage.open(options, { credentials: store });
  listener.session.connect();
  await listener.waitForEvent("qr");
  return {
    listener,
    store,
    async qr(nth) {
      const { qr: text, reason, attempt } = await listener.waitForEvent("qr", nth);
      return { ...parseQr(text), text, reason, attempt };
    },
  };
}

const scan = (text: string) => stage.control.scan(stage.phone.number, text);

async function acks(id: string): Promise<Record<string, string>[]> {
  const stanzas = await stage.control.registrationStanzas();
  return stanzas.flatMap(({ tag, attrs }) => (tag === "ack" && attrs.id === id ? [attrs] : []));
}

function acked(id: string): Promise<Record<string, string>> {
  return eventually(async () => {
    const found = await acks(id);
    expect(found).toHaveLength(1);
    return found[0] as Record<string, string>;
  });
}

/** Resolves when everything sent by clients has arrived, shown by a later ping. */
async function hasArrived(): Promise<void> {
  const pings = async () =>
    (await stage.control.registrationStanzas()).filter(({ attrs }) => attrs.xmlns === "w:p").length;
  const before = await pings();
  await eventually(async () => expect(await pings()).toBeGreaterThan(before + 1));
}

const PINGS = { timing: { pingMs: 20 } };

describe("a QR code whose secret WhatsApp retires during the scan", () => {
  it.each(["companion_reg_refresh", "pair-device-rotate-qr"] as const)(
    "is generated again with the same reference and another secret after %s, and links the phone",
    async (child) => {
      const { listener, qr } = await show();
      const id = await stage.control.refreshRegistration({ child });
      expect(await acked(id)).toEqual({
        id,
        to: "s.whatsapp.net",
        class: "notification",
        type: "companion_reg_refresh",
      });
      const [before, after] = [await qr(1), await qr(2)];
      expect(after).toMatchObject({
        ref: before.ref,
        noiseKey: before.noiseKey,
        identity: before.identity,
        reason: "refreshed",
        attempt: 1,
      });
      expect(before).toMatchObject({ reason: "new", attempt: 1 });
      expect(after.advSecret).not.toBe(before.advSecret);
      const [first, second] = listener.all("qr");
      expect(second?.expires_at).toEqual(first?.expires_at);
      await scan(after.text);
      await listener.waitForEvent("connected");
    },
  );

  it("is refused when the phone scans the earlier text, and nothing is stored", async () => {
    const { listener, store, qr } = await show();
    await stage.control.refreshRegistration();
    const after = await qr(2);
    await expect(scan((await qr(1)).text)).rejects.toThrow("the client refused the pairing");
    expect((await listener.waitForEvent("pairing_failed")).error.code).toBe("phone_refused");
    expect(await store.load()).toBeUndefined();
    await scan(after.text);
    await listener.waitForEvent("connected");
  });

  it("gets a new secret each time, and a redelivered notification is acknowledged again", async () => {
    const { listener, qr } = await show();
    for (const id of ["one", "one", "two"]) await stage.control.refreshRegistration({ id });
    const shown = [await qr(1), await qr(2), await qr(3), await qr(4)];
    expect(new Set(shown.map(({ advSecret }) => advSecret)).size).toBe(4);
    expect(new Set(shown.map(({ ref }) => ref)).size).toBe(1);
    await eventually(async () => expect([...(await acks("one")), ...(await acks("two"))]).toHaveLength(3));
    expect(await acks("one")).toHaveLength(2);
    await scan(shown[3]?.text ?? "");
    await listener.waitForEvent("connected");
  });

  it("does not change when the notification has neither child", async () => {
    const { listener, qr } = await show();
    const ignored = await stage.control.refreshRegistration({ child: "none" });
    await acked(await stage.control.refreshRegistration());
    await qr(2);
    expect(listener.all("qr")).toHaveLength(2);
    expect(await acks(ignored)).toEqual([]);
  });

  it("does not change when the notification is not from WhatsApp", async () => {
    const { listener, qr } = await show();
    await stage.control.push("unpaired", {
      tag: "notification",
      attrs: { from: "5511900000001@s.whatsapp.net", id: "foreign", type: "companion_reg_refresh" },
      content: [{ tag: "companion_reg_refresh", attrs: {} }],
    });
    await stage.control.refreshRegistration();
    await qr(2);
    expect(listener.all("qr")).toHaveLength(2);
  });

  it("is replaced by the next reference when too little time is left to scan it", async () => {
    const { qr } = await show({ timing: { scanMs: 3_600_000 } });
    await stage.control.refreshRegistration();
    const [before, after] = [await qr(1), await qr(2)];
    expect(after.ref).not.toBe(before.ref);
    expect(after).toMatchObject({ reason: "refreshed", attempt: 1 });
  });

  it("does not use up attempts, and later QR codes carry the new secret", async () => {
    const { listener, qr } = await show({ timing: { firstQrMs: 800, laterQrMs: 60, scanMs: 10 } });
    await stage.control.refreshRegistration();
    await listener.waitForEvent("qr_expired");
    const attempts = listener.all("qr").map(({ attempt }) => attempt);
    expect(attempts).toEqual([1, 1, 2, 3, 4, 5]);
    const secrets = await Promise.all([2, 3, 4, 5, 6].map(async (nth) => (await qr(nth)).advSecret));
    expect(new Set(secrets).size).toBe(1);
    expect(secrets).not.toContain((await qr(1)).advSecret);
  });
});

describe("a QR code whose connection ends while it is being stored", () => {
  it("is stored before the end of the connection is stored", async () => {
    const listener = stage.open({ timing: { closeMs: 60_000 } });
    let respond = () => {};
    const answered = new Promise<void>((resolve) => {
      respond = resolve;
    });
    let isAsked = false;
    listener.gate = async ({ type }) => {
      if (type !== "qr" || isAsked) return;
      isAsked = true;
      await answered;
    };
    listener.session.connect();
    await eventually(() => expect(isAsked).toBe(true));
    // Its connection ends with the other one.
    const { listener: other } = await show();
    await stage.control.endRegistrations();
    await other.waitForEvent("qr", 2);
    respond();
    await listener.waitForEvent("qr", 2);
    expect(listener.events.map(({ type }) => type)).toEqual(["qr", "disconnected", "qr"]);
  });

  it("is no longer stored when the database failed until then", async () => {
    const listener = stage.open();
    let [tries, isOver] = [0, false];
    listener.gate = async ({ type }) => {
      isOver ||= type === "disconnected";
      if (isOver) return;
      tries++;
      throw new Error("the database is unavailable");
    };
    listener.session.connect();
    await eventually(() => expect(tries).toBeGreaterThan(1));
    await stage.control.endRegistrations();
    expect(await listener.waitForEvent("qr")).toMatchObject({ attempt: 2 });
    expect(listener.events.map(({ type }) => type)).toEqual(["disconnected", "qr"]);
  });
});

describe("a session that is linked by QR code", () => {
  it.each([
    ["Acme Support", "Acme Support"],
    [undefined, "Mac OS"],
  ])("is shown on the phone by its name: %s", async (deviceName, name) => {
    const listener = stage.open({}, { deviceName });
    await listener.pair({ scan });
    expect((await stage.control.person(stage.phone.number)).devices).toMatchObject([{ name }]);
  });
});

describe("a QR code whose reference has expired", () => {
  it("is refused by WhatsApp, and the session does not change", async () => {
    const { listener, store, qr } = await show();
    await stage.control.expireReferences();
    await expect(scan((await qr(1)).text)).rejects.toThrow("the QR is not valid any more");
    await stage.control.refreshRegistration();
    await qr(2);
    expect(listener.events.map(({ type }) => type)).toEqual(["qr", "qr"]);
    expect(await store.load()).toBeUndefined();
  });
});

describe("the pairing secret", () => {
  it("is stored before the notification is acknowledged, and survives a kill", async () => {
    const { listener, store, qr } = await show(PINGS);
    let isAsked = false;
    let respond = () => {};
    const answered = new Promise<void>((resolve) => {
      respond = resolve;
    });
    store.beforeRegistration = () => {
      isAsked = true;
      return answered;
    };
    const id = await stage.control.refreshRegistration();
    await eventually(() => expect(isAsked).toBe(true));
    await hasArrived();
    expect(await acks(id)).toEqual([]);
    respond();
    await acked(id);
    stage.abandon(listener);
    store.beforeRegistration = async () => {};
    const [before, refreshed] = [await qr(1), await qr(2)];
    const again = await show({}, store);
    const after = await again.qr(1);
    expect(after).toMatchObject({ noiseKey: before.noiseKey, identity: before.identity });
    expect(after.advSecret).toBe(refreshed.advSecret);
    await scan(after.text);
    await again.listener.waitForEvent("connected");
    expect(await store.loadRegistration()).toBeUndefined();
  });

  it("is still the old one after a process dies before the commit, and gets no acknowledgement", async () => {
    const { listener, store, qr } = await show(PINGS);
    let isAsked = false;
    store.beforeRegistration = () => {
      isAsked = true;
      return new Promise(() => {});
    };
    const id = await stage.control.refreshRegistration();
    await eventually(() => expect(isAsked).toBe(true));
    await hasArrived();
    stage.abandon(listener);
    store.beforeRegistration = async () => {};
    const again = await show({}, store);
    expect((await again.qr(1)).advSecret).toBe((await qr(1)).advSecret);
    expect(await acks(id)).toEqual([]);
  });

  it("is not rotated once the phone has consented, and the notification is acknowledged", async () => {
    await stage.control.fault({ fault: "restart_delayed", ms: 500 });
    const { listener, store, qr } = await show();
    const save = store.save;
    let isAsked = false;
    let respond = () => {};
    const answered = new Promise<void>((resolve) => {
      respond = resolve;
    });
    store.save = async (credentials) => {
      isAsked = true;
      await answered;
      await save(credentials);
    };
    const scanning = scan((await qr(1)).text);
    await eventually(() => expect(isAsked).toBe(true));
    const id = await stage.control.refreshRegistration();
    store.beforeRegistration = async () => expect.unreachable("the secret was changed");
    respond();
    await acked(id);
    await scanning;
    await listener.waitForEvent("connected");
    expect(listener.all("qr")).toHaveLength(1);
  });

  it("is written again when the store fails, and acknowledged afterwards", async () => {
    const { store, qr } = await show();
    let tries = 0;
    store.beforeRegistration = async () => {
      if (++tries < 3) throw new Error("the database is unavailable");
    };
    await acked(await stage.control.refreshRegistration());
    expect(tries).toBe(3);
    expect((await qr(2)).advSecret).not.toBe((await qr(1)).advSecret);
  });

  it("and the keys are the same on the next connection when the network ends the first", async () => {
    const { listener, qr } = await show();
    await stage.control.refreshRegistration();
    const refreshed = await qr(2);
    await stage.control.endRegistrations();
    expect(await listener.waitForEvent("disconnected")).toMatchObject({ will_retry: true });
    const after = await qr(3);
    expect(after.ref).not.toBe(refreshed.ref);
    const { noiseKey, identity, advSecret } = refreshed;
    expect(after).toMatchObject({ noiseKey, identity, advSecret, reason: "new", attempt: 2 });
  });
});
