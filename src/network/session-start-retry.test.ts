import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RecordingSession } from "../../test/conformance/listener.ts";
import {
  createDriver,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../test/whatsapp-stage.ts";
import { SESSION_START_TIMING } from "./session-start-retry.ts";
import { loadBaileys } from "./whatsapp/load-baileys.ts";

const { startAttempts } = SESSION_START_TIMING;

let stage: WhatsAppStage;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});
afterEach(() => stage.stop());

/** Codes of the reported failures. */
const codes = ({ events }: RecordingSession) =>
  events.map((event) => (event.type === "disconnected" ? `${event.reason} ${event.will_retry}` : event.type));

const failing = (code: string): string[] => [
  ...Array.from({ length: startAttempts - 1 }, () => `${code} true`),
  `${code} false`,
];

describe("a session for which Baileys cannot be loaded", () => {
  it("reports the reason from the first attempt, stops after a few, and starts again on demand", async () => {
    let isBroken = true;
    let loads = 0;
    const listener = stage.open({
      loadBaileys: async (options) => {
        loads++;
        if (isBroken) throw new TypeError("Cannot set property AsyncLocalStorage");
        return loadBaileys(options);
      },
    });
    listener.session.connect();
    await vi.waitFor(() => expect(codes(listener)).toEqual(failing("library_failed")), 60_000);
    expect(loads).toBe(startAttempts);
    const [first] = listener.all("disconnected");
    expect(first?.detail).toContain("`waygate doctor`");
    expect(first?.detail).toContain(`Try 1 of ${startAttempts}`);
    // Users see the text, so it must not describe the machine.
    expect(JSON.stringify(listener.events)).not.toContain("AsyncLocalStorage");
    isBroken = false;
    listener.session.connect();
    await listener.waitForEvent("qr");
  });

  it("connects when Baileys can be loaded after all, and counts later failures anew", async () => {
    let left = startAttempts - 1;
    const load: typeof loadBaileys = async (options) => {
      if (left-- > 0) throw new Error("not yet");
      return loadBaileys(options);
    };
    const listener = stage.open({ loadBaileys: load });
    await listener.pair(stage.phone);
    listener.events.length = 0;
    let isAway = true;
    const read = listener.credentials.load;
    listener.credentials.load = async () => {
      if (isAway) throw new Error("away");
      return read();
    };
    await stage.phone.drop();
    expect((await listener.waitForEvent("disconnected", 2)).detail).toContain("Try 1 of");
    isAway = false;
    await listener.waitForEvent("connected");
  });
});

describe("a session whose socket cannot be created", () => {
  it("ends with the code session_failed, also during a pairing", async () => {
    const listener = stage.open({ socket: { waWebSocketUrl: "nowhere" } });
    listener.session.connect();
    await vi.waitFor(() => expect(codes(listener)).toEqual(failing("session_failed")), 60_000);
  });
});

describe("a session whose credentials cannot be read", () => {
  it.each([
    ["are not what the driver wrote", async () => Buffer.from("{")],
    ["cannot be decrypted", async () => Promise.reject(new Error("Unsupported state"))],
  ])("ends with a code, and retains them: they %s", async (_, broken) => {
    const listener = stage.open();
    await listener.pair(stage.phone);
    await listener.session.disconnect();
    listener.events.length = 0;
    const { load } = listener.credentials;
    listener.credentials.load = broken;
    listener.session.connect();
    await vi.waitFor(() => expect(codes(listener)).toEqual(failing("credentials_unreadable")), 60_000);
    listener.credentials.load = load;
    listener.session.connect();
    await listener.waitForEvent("connected");
    expect(listener.all("qr")).toEqual([]);
  });
});

describe("a session whose store is unavailable", () => {
  const AWAY = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const SHORTAGE = Object.assign(new Error("too many open files"), { code: "EMFILE" });

  it.each([
    ["the database is unavailable", AWAY],
    ["the machine has no file handles left", SHORTAGE],
  ])("is started again for as long as %s, with growing delays", async (_, fault) => {
    const failures = 2 * startAttempts;
    let loads = 0;
    const waits: number[] = [];
    const log = {
      info: () => {},
      warn: (fields: object) => void ("wait_ms" in fields && waits.push(Number(fields.wait_ms))),
    };
    const timing = { startBackoffMs: 4, startBackoffMaxMs: 64 };
    const credentials = storeInMemory();
    const driver = createDriver(stage.server, { log, timing });
    const listener = new RecordingSession(driver, credentials, {
      isTransientError: (error) => error === AWAY,
    });
    credentials.load = async () => {
      loads++;
      if (loads <= failures) throw fault;
      return undefined;
    };
    listener.session.connect();
    await listener.waitForEvent("qr");
    expect(codes(listener)).toEqual([...Array(failures).fill("session_failed true"), "qr"]);
    const limits = [4, 8, 16, 32, 64, 64, 64, 64];
    expect(waits.map((wait, nth) => wait >= (limits[nth] ?? 0) / 2 && wait <= (limits[nth] ?? 0))).toEqual(
      limits.map(() => true),
    );
    await listener.session.disconnect();
  });

  it("does not wait for a report that cannot be stored", async () => {
    const listener = stage.open({}, { isTransientError: () => true });
    let isAway = true;
    listener.gate = async () => {
      if (isAway) throw AWAY;
    };
    let loads = 0;
    listener.credentials.load = async () => {
      if (++loads > 3) isAway = false;
      if (isAway) throw AWAY;
      return undefined;
    };
    listener.session.connect();
    await listener.waitForEvent("qr");
    expect(codes(listener)).toEqual(["qr"]);
  });
});
