import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, RecordingSession } from "../../../test/conformance/listener.ts";
import {
  createDriver,
  type MemoryCredentials,
  startWhatsAppStage,
  type WhatsAppStage,
  type WhatsAppStageOptions,
} from "../../../test/whatsapp-stage.ts";
import type { Content, SendResult } from "../driver.ts";
import { newMessageId } from "../jid.ts";
import { WHATSAPP_TIMING } from "./whatsapp-timing.ts";

let stage: WhatsAppStage;

const pair = async (options: WhatsAppStageOptions = {}): Promise<RecordingSession> => {
  const listener = stage.open(options);
  await listener.pair(stage.phone);
  return listener;
};

/** Waits until the phone's first sync with a new device is complete, with all requests it causes. */
const settle = (listener: RecordingSession): Promise<void> =>
  eventually(async () => {
    expect(await stage.control.waiting(stage.phone.number)).toBe(0);
    expect(listener.all("profile_updated")).not.toEqual([]);
  });

const text = (words: string): Content => ({ kind: "text", text: words });
const send = (listener: RecordingSession, words: string, id = newMessageId()): Promise<SendResult> =>
  listener.session.send(stage.contact.jid, text(words), { id });

beforeEach(async () => {
  stage = await startWhatsAppStage();
});

afterEach(() => stage.stop());

describe("the end of a connection", () => {
  it.each([
    [428, "connection_lost"],
    [500, "connection_lost"],
    [503, "connection_lost"],
    [515, "restart_required"],
  ] as const)("by %s is followed by a reconnect", async (code, reason) => {
    const listener = await pair();
    await stage.control.end(stage.phone.number, code);
    const lost = await listener.waitForEvent("disconnected");
    expect(lost).toMatchObject({ reason, will_retry: true, detail: expect.stringContaining(`(${code})`) });
    await listener.waitForEvent("connected", 2);
    expect((await send(listener, "back")).outcome).toBe("accepted");
  });

  it("by 401 ends the pairing, by 403 and 440 only the connection", async () => {
    const [unlinked, banned, replaced] = [await pair(), await pair(), await pair()];
    await stage.control.end(stage.phone.number, 440);
    for (const { session } of [unlinked, banned, replaced]) await session.disconnect();
    for (const listener of [unlinked, banned, replaced]) listener.events.length = 0;
    for (const [listener, reason] of [
      [unlinked, 401],
      [banned, 403],
      [replaced, 440],
    ] as const) {
      await stage.control.fault({ fault: "login", reason });
      listener.session.connect();
      await eventually(() => expect(listener.events.length).toBeGreaterThan(0));
    }
    expect(unlinked.events).toEqual([{ type: "logged_out", reason: "unlinked" }]);
    expect(banned.events).toEqual([{ type: "banned", reason: "banned" }]);
    expect(replaced.events).toMatchObject([{ type: "disconnected", reason: "replaced", will_retry: false }]);
    const kept = [unlinked, banned, replaced].map(({ credentials }) => credentials.load());
    expect((await Promise.all(kept)).map((one) => one !== undefined)).toEqual([false, true, true]);
  });

  it.each([405, 409])("by %i reports an outdated client version, and is not retried", async (reason) => {
    const listener = await pair();
    await listener.session.disconnect();
    listener.events.length = 0;
    await stage.control.fault({ fault: "login", reason });
    listener.session.connect();
    const reported = await listener.waitForEvent("disconnected");
    expect(reported).toMatchObject({ reason: "outdated", will_retry: false });
    expect(reported.detail).toContain("WAYGATE_WHATSAPP_VERSION");
    expect(await listener.credentials.load()).toBeDefined();
    listener.session.connect();
    await listener.waitForEvent("connected");
  });

  it("by 429 is followed by retries with longer waits, which it names", async () => {
    const listener = await pair({ timing: { rateLimitMs: [10, 30] } });
    await stage.control.fault({ fault: "login", reason: 429, times: 2 });
    await stage.control.end(stage.phone.number, 429);
    await listener.waitForEvent("connected", 2);
    const ends = listener.all("disconnected");
    expect(ends.map(({ reason }) => reason)).toEqual(Array(3).fill("rate_limited"));
    const waits = ends.map(({ detail = "" }) => /next in .*$/.exec(detail)?.[0]);
    expect(waits).toEqual(["next in 0.01 s", "next in 0.03 s", "next in 0.03 s"]);
  });

  it.each([
    [402, "banned_for_a_while"],
    [406, "banned"],
  ])("by %i is a ban", async (code, reason) => {
    const listener = await pair();
    await listener.session.disconnect();
    await stage.control.fault({ fault: "login", reason: code });
    listener.session.connect();
    expect(await listener.waitForEvent("banned")).toMatchObject({ reason });
    expect(await listener.credentials.load()).toBeDefined();
  });

  it("is followed by retries, each reported with its number", async () => {
    const listener = await pair();
    await stage.control.fault({ fault: "login", reason: 503, times: 2 });
    await stage.phone.drop();
    await listener.waitForEvent("connected", 2);
    const details = listener.all("disconnected").map(({ detail = "" }) => /try \d+$/.exec(detail)?.[0]);
    expect(details).toEqual(["try 1", "try 2", "try 3"]);
  });

  it.each([
    ["an answer in HTTP", { fault: "upgrade", status: 502 }],
    ["no answer at all", { fault: "upgrade", status: "never" }],
    ["no handshake", { fault: "no_hello" }],
    ["no answer to the login", { fault: "login_silence" }],
    ["a certificate of somebody else", { fault: "untrusted_root" }],
  ] as const)("is always detected: %s", async (_, fault) => {
    const listener = await pair({ timing: { connectMs: 2_500 } });
    await stage.control.fault(fault);
    await stage.phone.drop();
    expect(await listener.waitForEvent("disconnected", 2)).toMatchObject({ will_retry: true });
    await listener.waitForEvent("connected", 2);
    expect(listener.all("qr")).toHaveLength(1);
  });

  it("of an unresponsive connection is caused by the gateway, which then reconnects", async () => {
    const listener = await pair({ timing: { pingMs: 200, silentSocketMs: 1_500 } });
    await stage.control.end(stage.phone.number, "silent");
    const { detail } = await listener.waitForEvent("disconnected");
    expect(detail).toContain("nothing was received");
    await listener.waitForEvent("connected", 2);
    await listener.message(await stage.contact.sendMessage(text("there again")));
    expect(listener.all("qr")).toHaveLength(1);
    expect((await stage.control.person(stage.phone.number)).devices).toHaveLength(1);
  });

  it("comes soon when there is neither a pairing nor a network", async () => {
    await stage.control.fault({ fault: "upgrade", status: 503, times: 100 });
    const listener = stage.open({ timing: { pairingAttempts: 3 } });
    listener.session.connect();
    expect(await listener.waitForEvent("disconnected")).toMatchObject({ will_retry: false });
    expect((await stage.control.ledger()).sockets).toEqual([]);
    await stage.control.clearFaults();
    listener.session.connect();
    await listener.waitForEvent("qr");
  });
});

describe("the end of a connection on which no phone is linked yet", () => {
  const limit = async () => {
    await stage.control.push("unpaired", { tag: "stream:error", attrs: { code: "429" } });
  };

  it("by 429 is followed by a new QR after the longer waits, which it names", async () => {
    const listener = stage.open({ timing: { rateLimitMs: [10, 30], pairingAttempts: 2 } });
    listener.session.connect();
    for (const [nth, wait] of ["next in 0.01 s", "next in 0.03 s"].entries()) {
      await listener.waitForEvent("qr", nth + 1);
      await limit();
      expect(await listener.waitForEvent("disconnected", nth + 1)).toMatchObject({
        reason: "rate_limited",
        will_retry: true,
        detail: expect.stringContaining(wait),
      });
    }
    await stage.phone.scan((await listener.waitForEvent("qr", 3)).qr);
    await listener.waitForEvent("connected");
  });

  it("by 429 says when to connect again, once the attempts are used up", async () => {
    const listener = stage.open({ timing: { rateLimitMs: [3_600_000], pairingAttempts: 1 } });
    listener.session.connect();
    await listener.waitForEvent("qr");
    await limit();
    const { error, ...ended } = await listener.waitForEvent("disconnected");
    expect([ended.reason, ended.will_retry, error?.code]).toEqual(["rate_limited", false, "rate_limited"]);
    expect(error?.retry_at?.getTime()).toBeGreaterThan(Date.now());
  });
});

describe("a session", () => {
  it("logs in as the configured version", async () => {
    const versions = {
      current: () => [2, 3000, 7] as const,
      reportRejected: async () => ({ canRetry: false, message: "", action: "" }),
      reportExpiration: () => {},
    };
    await pair({ versions });
    const { sockets } = await stage.control.ledger();
    expect(new Set(sockets.map(({ version }) => version))).toEqual(new Set(["2.3000.7"]));
  });

  it.each([true, false])("shows the account as online only when configured to: %s", async (markOnline) => {
    const listener = stage.open({}, { markOnline });
    await listener.pair(stage.phone);
    await send(listener, "after it");
    await eventually(async () => {
      const { devices } = await stage.control.person(stage.phone.number);
      expect(devices).toMatchObject([{ presence: markOnline ? "available" : "unavailable" }]);
    });
  });
});

describe("a session whose pairing has another owner now", () => {
  it("ends without a report, and has sent no receipts", async () => {
    const listener = await pair();
    await settle(listener);
    const { keys } = listener.credentials as MemoryCredentials;
    keys.commit = async () => "lost";
    listener.events.length = 0;
    const id = await stage.contact.sendMessage(text("to whom?"));
    await eventually(async () => {
      const { sockets } = await stage.control.ledger();
      expect(sockets.filter((one) => one.closed_at === undefined)).toEqual([]);
    });
    expect((await send(listener, "gone")).outcome).toBe("not_sent");
    const { deliveries } = await stage.control.ledger();
    expect(deliveries.find((one) => one.id === id)?.receipted_at).toBeUndefined();
    expect(listener.events).toEqual([]);
  });
});

describe("a session that is closed while its store does not respond", () => {
  const isOffline = () =>
    eventually(async () => {
      const { sockets } = await stage.control.ledger();
      expect(sockets.filter((one) => one.closed_at === undefined)).toEqual([]);
    });

  it.each(["reports", "keys"])("ends its connection before another node may connect: %s", async (what) => {
    expect(WHATSAPP_TIMING.finishMs).toBeLessThan(1_500);
    // Every access to the store waits for an hour.
    const listener = await pair({ timing: { closeMs: 3_600_000, finishMs: 100 } });
    await settle(listener);
    let respond = () => {};
    const answered = new Promise<void>((resolve) => {
      respond = resolve;
    });
    let asked = 0;
    const hang = (): Promise<void> => {
      asked++;
      return answered;
    };
    if (what === "keys") (listener.credentials as MemoryCredentials).beforeCommit = hang;
    else listener.gate = hang;
    const id = await stage.contact.sendMessage(text("who has this?"));
    await eventually(() => expect(asked).toBeGreaterThan(0));
    const closing = listener.session.disconnect();
    await isOffline();
    if (what === "keys") {
      const { deliveries } = await stage.control.ledger();
      expect(deliveries.find((one) => one.id === id)?.receipted_at).toBeUndefined();
    }
    respond();
    await closing;
  });
});

describe("a sender that may speak for the network or the phone", () => {
  it("is not a server with a root certificate of its own", async () => {
    await stage.control.fault({ fault: "untrusted_root", times: 100 });
    const listener = stage.open({ timing: { pairingAttempts: 2 } });
    listener.session.connect();
    const { detail } = await listener.waitForEvent("disconnected");
    expect(detail).toContain("certificate");
    expect(listener.all("qr")).toEqual([]);
  });

  it.each(["signature", "hmac"] as const)("is not a peer with a forged %s", async (forge) => {
    const listener = stage.open();
    listener.session.connect();
    const { qr } = await listener.waitForEvent("qr");
    const scan = stage.control.scan(stage.phone.number, qr, { forge });
    await expect(scan).rejects.toThrow("the client refused the pairing: 401 not-authorized");
    const { error } = await listener.waitForEvent("pairing_failed");
    expect(error.code).toBe("phone_refused");
    expect(await listener.credentials.load()).toBeUndefined();
    expect(listener.all("connected")).toEqual([]);
  });

  it("is WhatsApp alone: only its requests to a linked session are reported", async () => {
    const listener = await pair();
    await settle(listener);
    const demand = (from: string, op_name: string) => ({
      tag: "notification",
      attrs: { type: "mex", from, id: `${from} ${op_name}` },
      content: [{ tag: "update", attrs: { op_name }, content: '{"data":{}}' }],
    });
    const name = "NotificationIntegrityChallengeRequest";
    await stage.control.push(stage.phone.number, demand("5511900000000@s.whatsapp.net", name));
    await stage.control.push(stage.phone.number, demand("s.whatsapp.net", "AnotherNotification"));
    await stage.control.push(stage.phone.number, demand("s.whatsapp.net", name));
    expect(await listener.waitForEvent("attention")).toEqual({
      type: "attention",
      code: "passkey_challenge",
    });
    await send(listener, "after it");
    expect(listener.all("attention")).toHaveLength(1);
  });
});

describe("connections that open at the same time", () => {
  it("log in sequentially, the most recently used first", async () => {
    const identities = [];
    for (const at of [2, 3, 1]) identities.push({ at, phone: (await stage.control.addPerson()).phone });
    const paired = await Promise.all(
      identities.map(async ({ at, phone }) => {
        const listener = stage.open();
        await listener.pair({ scan: (qr) => stage.control.scan(phone, qr) });
        await listener.session.disconnect();
        return { at, phone, credentials: listener.credentials };
      }),
    );
    await stage.control.clearLedger();
    const driver = createDriver(stage.server, { timing: { openAtOnce: 1, openGatherMs: 50 } });
    const back = paired.map(
      ({ at, credentials }) => new RecordingSession(driver, credentials, { activeAt: new Date(at) }),
    );
    for (const { session } of back) session.connect();
    for (const listener of back) await listener.waitForEvent("connected");
    const { sockets } = await stage.control.ledger();
    const open = sockets.filter(({ closed_at }) => closed_at === undefined);
    const order = paired.toSorted((a, b) => b.at - a.at).map(({ phone }) => phone);
    expect(open.map(({ phone }) => phone)).toEqual(order);
    for (const { session } of back) await session.disconnect();
  });
});
