import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { downloadWhole, RecordingSession } from "../../../test/conformance/listener.ts";
import { insertAccount, insertInstance } from "../../../test/rows.ts";
import { type Served, serveFeature } from "../../../test/serve-feature.ts";
import {
  startSandboxNetwork,
  storeInMemory,
  type TestSandboxNetwork,
} from "../../../test/stories/sandbox-network.ts";
import type { Jid } from "../../network/driver.ts";
import { findPicture } from "../../network/sandbox/world/picture-store.ts";
import { type Database, openDatabase } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { sandboxContract } from "./contract.ts";
import { sandboxHandlers } from "./sandbox.ts";

const PHONE = "5511977773000";
const FRIEND = "5511966661111";

let network: TestSandboxNetwork;
let database: Database;
let served: Served;
let waitMs = 10_000;

beforeAll(async () => {
  network = await startSandboxNetwork();
  database = openDatabase(network.url, { max: 2 });
  served = await serveFeature(
    sandboxContract,
    sandboxHandlers({
      db: database.db,
      sandbox: "on",
      controlOf: network.controlOf,
      findPicture: (id) => findPicture(network.pool, id),
      connectInstance,
      fetchMedia: async (url) => {
        if (url.includes("gone"))
          throw new GatewayError("MEDIA_DOWNLOAD_FAILED", "The address responded with 404.");
        return { bytes: Buffer.from("fetched"), mime_type: "text/plain" };
      },
      get waitMs() {
        return waitMs;
      },
    }),
    async () => ({
      kind: "key",
      account_id: 1,
      instance_id: 1,
      key_id: 1,
      scope: "instance",
      may_manage: true,
    }),
  );
});

afterAll(async () => {
  await served.close();
  await database.close();
  await network.stop();
});

let instance: number;
let listener: RecordingSession;

beforeEach(async () => {
  const account_id = await insertAccount(database.db);
  instance = await insertInstance(database.db, account_id);
  listener = new RecordingSession(network.driver, storeInMemory(), { account_id });
  listener.gate = recordIn(instance);
});

afterEach(() => {
  waitMs = 10_000;
  return listener.session.logout();
});

// A minimal stand-in for the gateway: writes the session's reports to the instance's row.
function recordIn(id: number): RecordingSession["gate"] {
  return async (event) => {
    const change =
      event.type === "qr"
        ? { status: "qr_pending" as const, qr: event.qr }
        : event.type === "connected"
          ? {
              status: "connected" as const,
              qr: null,
              phone: event.me.phone,
              jid: event.me.jid,
              lid: event.me.lid,
            }
          : event.type === "pairing_code"
            ? { status: "qr_pending" as const, pairing_code: event.code }
            : undefined;
    if (change) await database.db.updateTable("instance").set(change).where("id", "=", id).execute();
  };
}

async function connectInstance(): Promise<void> {
  listener.session.connect();
}

const post = (what: string, body: object = {}, id = instance) =>
  served.request(`POST /api/v1/instances/${id}/sandbox/${what}`, body);

const pair = () => post("scan", { phone: PHONE });

describe("the sandbox scan", () => {
  test("connects first, pairs, and responds once the instance is connected", async () => {
    const { status, body } = await post("scan", { phone: "+55 (11) 97777-3000" });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      phone: PHONE,
      jid: `${PHONE}@s.whatsapp.net`,
      lid: expect.stringMatching(/@lid$/),
      status: "connected",
    });
  });

  test("scans the QR that is already shown", async () => {
    listener.session.connect();
    await listener.waitForEvent("qr");
    const { body } = await pair();
    expect([body.data.status, listener.all("qr").length]).toEqual(["connected", 1]);
  });

  test("enters a pairing code, for the number that requested it", async () => {
    listener.session.connect({ pairingPhone: PHONE });
    await listener.waitForEvent("pairing_code");
    expect((await post("scan", { phone: FRIEND })).body.code).toBe("VALIDATION_ERROR");
    expect((await post("scan")).body.data).toMatchObject({ phone: PHONE, status: "connected" });
  });

  test("uses the next QR if the stored one has expired", async () => {
    await database.db
      .updateTable("instance")
      .set({ qr: "sandbox@over", status: "qr_pending" })
      .where("id", "=", instance)
      .execute();
    expect((await pair()).body.data.status).toBe("connected");
  });

  test("is rejected while the instance is connected", async () => {
    await pair();
    const { status, body } = await pair();
    expect([status, body.code, body.details.phone]).toEqual([409, "CONFLICT", PHONE]);
  });
});

describe("an action of a sandbox contact", () => {
  beforeEach(async () => {
    await pair();
  });

  test("sends a text from the phone itself, and a text in a group", async () => {
    const mine = await post("receive", { from: FRIEND, text: "from my phone", from_me: true });
    expect(await listener.message(mine.body.data.message_id)).toMatchObject({
      chat: `${FRIEND}@s.whatsapp.net`,
      from_me: true,
      sender: { phone: PHONE },
    });
    const group = await post("receive", { from: FRIEND, text: "all", group_jid: "120363000000000001@g.us" });
    expect(await listener.message(group.body.data.message_id)).toMatchObject({
      chat: "120363000000000001@g.us",
      chat_type: "group",
      sender: { phone: FRIEND },
    });
  });

  test.each([
    [
      "a data URI",
      { base64: `data:image/png;base64,${Buffer.from("dot").toString("base64")}` },
      "image",
      "dot",
    ],
    ["base64", { base64: "ZG90", mime_type: "application/pdf", file_name: "a.pdf" }, "document", "dot"],
    ["an address", { url: "https://example.com/a.txt", caption: "read me" }, "document", "fetched"],
  ])("sends a file as %s", async (_, media, media_type, bytes) => {
    const { body } = await post("receive", { from: FRIEND, media });
    const { content } = await listener.message(body.data.message_id);
    expect(content).toMatchObject({ kind: "media", media_type, size: bytes.length });
    const ref = content.kind === "media" && content.ref;
    expect((await downloadWhole(listener.session, ref))?.toString()).toBe(bytes);
  });

  test("sends a location and a contact", async () => {
    const place = await post("receive", {
      from: FRIEND,
      location: { latitude: 1, longitude: 2, name: null },
    });
    expect((await listener.message(place.body.data.message_id)).content).toMatchObject({
      kind: "location",
      latitude: 1,
    });
    const card = await post("receive", {
      from: FRIEND,
      contact: { name: "Bia", phone: "+55 11 99999-0001" },
    });
    expect((await listener.message(card.body.data.message_id)).content).toMatchObject({
      kind: "contact",
      phone: "5511999990001",
    });
  });

  test("sends reactions, edits, deletions, read receipts and phone calls", async () => {
    const { message_id } = (await post("receive", { from: FRIEND, text: "Helo" })).body.data;
    await post("react", { from: FRIEND, message_id, emoji: "👍" });
    await post("edit", { from: FRIEND, messageId: message_id, text: "Hello" });
    await post("delete", { from: FRIEND, message_id });
    const read = await post("read", { from: FRIEND, message_ids: ["A", "B"] });
    const call = await post("call", { from: FRIEND });
    expect(read.body.data).toEqual({ message_id: "A", message_ids: ["A", "B"] });
    expect(await listener.waitForEvent("message_reaction")).toMatchObject({
      id: message_id,
      reaction: "👍",
      from_me: false,
    });
    expect(await listener.waitForEvent("message_edited")).toMatchObject({ id: message_id, text: "Hello" });
    expect(await listener.waitForEvent("message_deleted")).toMatchObject({ id: message_id });
    expect(await listener.waitForEvent("message_status")).toMatchObject({
      ids: ["A", "B"],
      status: "read",
      from_me: true,
    });
    expect((await listener.waitForEvent("call_received")).call_id).toBe(call.body.data.call_id);
  });
});

describe("a sandbox event besides messages", () => {
  beforeEach(async () => {
    await pair();
  });

  test("names a contact and shows more of its profile", async () => {
    const person = { name: "Zé", push_name: "José", about: "At sea", picture_url: "https://a.example/z.jpg" };
    const { body } = await post("contact", { from: FRIEND, ...person });
    expect(body.data).toMatchObject({ jid: `${FRIEND}@s.whatsapp.net`, ...person, is_blocked: false });
    const { contact } = await listener.waitForEvent("contact_updated");
    expect(contact).toMatchObject({ phone: FRIEND, name: "Zé", push_name: "José" });
    await listener.session.contacts?.setBlocked(contact.jid as Jid, true);
    await post("receive", { from: FRIEND, text: "unwanted" });
    await post("receive", { from: "5511966662222", text: "wanted" });
    const { message } = await listener.waitForEvent("message");
    expect(message.content).toMatchObject({ text: "wanted" });
    expect((await post("contact", { from: FRIEND })).body.data).toMatchObject({
      name: "Zé",
      is_blocked: true,
    });
  });

  test("hides a contact behind a LID until the phone becomes known", async () => {
    const stranger = "5511966663333";
    const { lid } = (await post("contact", { from: stranger, known: "lid" })).body.data;
    await post("receive", { from: stranger, text: "who am I?" });
    const { message } = await listener.waitForEvent("message");
    expect([message.chat, message.sender]).toMatchObject([lid, { jid: lid, lid, phone: null }]);
    await post("contact", { from: stranger, known: "both" });
    const { contact } = await listener.waitForEvent("contact_updated", 2);
    expect(contact).toMatchObject({ jid: `${stranger}@s.whatsapp.net`, lid, phone: stranger });
    await post("contact", { from: stranger, known: "phone" });
    expect((await listener.waitForEvent("contact_updated", 3)).contact).toMatchObject({
      phone: stranger,
      lid: null,
    });
  });

  test("archives a chat on the phone, and shows its state", async () => {
    const until = "2030-01-01T00:00:00.000Z";
    const { body } = await post("chat", { from: FRIEND, archived: true, muted_until: until });
    expect(body.data).toEqual({ archived: true, pinned: false, muted_until: until, unread: false });
    const { change } = await listener.waitForEvent("chat_updated");
    expect(change).toEqual({ archived: true, muted_until: new Date(until) });
    expect((await post("chat", { from: FRIEND })).body.data).toEqual(body.data);
  });

  test("creates a group, and changes it and its members", async () => {
    const made = await post("group", { from: FRIEND, subject: "Theirs", participants: ["5511966664444"] });
    const { jid } = made.body.data;
    const { change } = await listener.waitForEvent("group_updated");
    expect(change.group?.participants.map((one) => one.phone)).toEqual([FRIEND, PHONE, "5511966664444"]);
    const by = { from: FRIEND, group_jid: jid };
    await post("group-settings", { ...by, subject: "Renamed", locked: true });
    expect((await listener.waitForEvent("group_updated", 2)).change).toMatchObject({ subject: "Renamed" });
    expect((await listener.waitForEvent("group_updated", 3)).change).toMatchObject({ locked: true });
    const { body } = await post("group-participants", { ...by, action: "remove", participants: [PHONE] });
    expect(body.data).toEqual([{ jid: `${PHONE}@s.whatsapp.net`, status: 200 }]);
    expect((await listener.waitForEvent("group_updated", 4)).change).toMatchObject({ left: true });
    const refused = await post("group-settings", { from: PHONE, group_jid: jid, subject: "Mine" });
    expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
    const nowhere = await post("group-settings", { ...by, group_jid: "120363999999999999", subject: "A" });
    expect([nowhere.status, nowhere.body.code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("a sandbox error", () => {
  test.each(["scan", "receive", "drop"])("is a conflict for %s on another network", async (what) => {
    const id = await insertInstance(database.db, await insertAccount(database.db), "whatsapp");
    const { status, body } = await post(what, { from: FRIEND, text: "x" }, id);
    expect([status, body.code]).toEqual([409, "CONFLICT"]);
  });

  test("is returned for every event at an instance that is not paired", async () => {
    const { status, body } = await post("receive", { from: FRIEND, text: "x" });
    expect([status, body.code]).toEqual([409, "INSTANCE_NOT_CONNECTED"]);
  });

  test("is returned for every event at an instance whose pairing the network has deleted", async () => {
    await pair();
    await listener.session.logout();
    const responses = [await post("receive", { from: FRIEND, text: "x" }), await post("drop")];
    expect(responses.map(({ body }) => body.code)).toEqual([
      "INSTANCE_NOT_CONNECTED",
      "INSTANCE_NOT_CONNECTED",
    ]);
  });

  test.each<[string, string, object, string]>([
    ["no content", "receive", { from: FRIEND }, "exactly one"],
    [
      "two contents",
      "receive",
      { from: FRIEND, text: "a", location: { latitude: 1, longitude: 1 } },
      "exactly one",
    ],
    ["no writer", "receive", { text: "a" }, "from"],
    ["a writer that is no phone", "receive", { from: "123@lid", text: "a" }, "not part of a phone number"],
    ["a writer with too few digits", "receive", { from: "12345", text: "a" }, "phone of 7 to 15 digits"],
    ["a number from Excel", "receive", { from: "5511977771234.0", text: "a" }, "changed by a spreadsheet"],
    [
      "a file named twice",
      "receive",
      { from: FRIEND, media: { url: "https://a.b", base64: "aa" } },
      "exactly one of url",
    ],
    [
      "what begins like a data URI and goes on for ever",
      "receive",
      { from: FRIEND, media: { base64: `data:${"a".repeat(500_000)}` } },
      "base64",
    ],
    ["what is not base64", "receive", { from: FRIEND, media: { base64: "a*b" } }, "base64"],
    [
      "a place beyond the pole",
      "receive",
      { from: FRIEND, location: { latitude: 91, longitude: 1 } },
      "latitude",
    ],
    ["a group that is none", "receive", { from: FRIEND, text: "a", group_jid: "x@g.us" }, "group"],
    ["no message to edit", "edit", { from: FRIEND, text: "a" }, "message_id"],
    ["nothing to read", "read", { from: FRIEND }, "message_id"],
    ["a phone that is none", "scan", { phone: "12" }, "phone"],
  ])("is returned for %s", async (_, what, body, said) => {
    if (what !== "scan") await pair();
    const response = await post(what, body);
    expect([response.status, response.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(response.body.message).toContain(said);
  });

  test("reports a file that cannot be fetched", async () => {
    await pair();
    const { status, body } = await post("receive", {
      from: FRIEND,
      media: { url: "https://example.com/gone" },
    });
    expect([status, body.code]).toEqual([502, "MEDIA_DOWNLOAD_FAILED"]);
  });

  test("is returned for a scan of an instance that never shows a QR", async () => {
    listener.gate = async () => undefined;
    waitMs = 500;
    const { status, body } = await pair();
    expect([status, body.code]).toEqual([502, "CONNECT_FAILED"]);
  });
});
