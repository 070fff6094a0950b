import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import {
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../../../test/whatsapp-stage.ts";

let stage: WhatsAppStage;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});
afterEach(() => stage.stop());

const AWAY = new Error("the database is unavailable");
const OTHER_OWNER = new Error("another process owns the instance");

interface Showing {
  listener: RecordingSession;
  store: MemoryCredentials;
  scan(): Promise<unknown>;
}

/** A session that shows its first QR code; failures of its store with AWAY are temporary. */
async function show(): Promise<Showing> {
  const store = storeInMemory();
  const listener = stage.open({}, { credentials: store, isTransientError: (error) => error === AWAY });
  listener.session.connect();
  const { qr } = await listener.waitForEvent("qr");
  return { listener, store, scan: () => stage.control.scan(stage.phone.number, qr) };
}

/** Fails the first calls of a method with these errors, before the work or after it. */
function fail(
  store: MemoryCredentials,
  method: "save" | "load",
  errors: Error[],
  moment: "before" | "after" = "before",
): void {
  const work = store[method] as (credentials?: Uint8Array) => Promise<never>;
  store[method] = async (credentials?: Uint8Array) => {
    const error = errors.shift();
    if (error && moment === "before") throw error;
    const result = await work(credentials);
    if (error) throw error;
    return result;
  };
}

describe("the identity of a new pairing", () => {
  it("is stored once the database is available again, and the phone is linked", async () => {
    const { listener, store, scan } = await show();
    const errors = [AWAY, AWAY];
    fail(store, "save", errors);
    await scan();
    await listener.waitForEvent("connected");
    expect(errors).toEqual([]);
    expect(listener.all("disconnected")).toEqual([]);
  });

  it("counts as stored when only the confirmation of its commit was lost", async () => {
    const { listener, store, scan } = await show();
    fail(store, "save", [OTHER_OWNER], "after");
    const errors = [AWAY];
    fail(store, "load", errors);
    await scan();
    await listener.waitForEvent("connected");
    expect(errors).toEqual([]);
    expect(listener.all("disconnected")).toEqual([]);
  });

  it("that cannot be stored ends the pairing with an explanation, and the phone is refused", async () => {
    const { listener, store, scan } = await show();
    fail(store, "save", [OTHER_OWNER]);
    await expect(scan()).rejects.toThrow("the client refused the pairing: 500 internal-server-error");
    const { reason, will_retry, error } = await listener.waitForEvent("disconnected");
    expect([reason, will_retry, error?.code]).toEqual(["pairing_failed", false, "not_stored"]);
    expect(await store.load()).toBeUndefined();
  });

  it("does not replace that of another pairing which is stored by then", async () => {
    const { listener, store, scan } = await show();
    const other = Buffer.from("another pairing");
    store.save = () => Promise.reject(OTHER_OWNER);
    store.load = async () => other;
    await expect(scan()).rejects.toThrow("the client refused the pairing");
    expect((await listener.waitForEvent("disconnected")).error?.code).toBe("not_stored");
  });

  it("is discarded when the connection ends while the database is unavailable", async () => {
    const { listener, store, scan } = await show();
    let tries = 0;
    store.save = () => {
      tries++;
      return Promise.reject(AWAY);
    };
    void scan().catch(() => {});
    await eventually(() => expect(tries).toBeGreaterThan(1));
    await stage.control.endRegistrations();
    const { will_retry, error } = await listener.waitForEvent("disconnected");
    expect([will_retry, error?.code]).toEqual([false, "not_stored"]);
  });
});
