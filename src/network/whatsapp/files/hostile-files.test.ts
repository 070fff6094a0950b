import { randomBytes } from "node:crypto";
import { type AddressInfo, createServer, type LookupFunction, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { downloadWhole, eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Jid, MediaContent, MessageId } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
/** A server that is reached only by following the sender's address. */
let hostile: Server;
let host: string;
let hits = 0;
/** Names that were resolved. */
const names: string[] = [];

/** A policy that allows everything: only the name can stop a connection. */
const lookup: LookupFunction = (name, options, callback) => {
  names.push(name);
  if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
  else callback(null, "127.0.0.1", 4);
};

beforeAll(async () => {
  hostile = createServer((socket) => {
    hits++;
    socket.destroy();
  });
  await new Promise<void>((done) => hostile.listen(0, "127.0.0.1", done));
  host = `127.0.0.1:${(hostile.address() as AddressInfo).port}`;
  stage = await startWhatsAppStage();
  listener = stage.open({ timing: { phoneMs: 5_000 }, egress: { lookup } });
  await listener.pair(stage.phone);
  await eventually(async () => expect(await stage.control.waiting(stage.phone.number)).toBe(0));
  // The network has named its media host.
  const { ref } = await receive({
    documentMessage: { url: "https://elsewhere.example/", ...sealed("/v/none") },
  });
  expect(await listener.session.downloadMedia?.(ref, () => {})).toBe("gone");
});

afterAll(async () => {
  await stage.stop();
  await new Promise((done) => hostile.close(done));
});

afterEach(async () => {
  await stage.control.clearFaults();
  const [connections, asked] = [hits, names.splice(0)];
  hits = 0;
  expect(connections).toBe(0);
  expect(asked.filter((name) => !name.endsWith(".whatsapp.net"))).toEqual([]);
});

const sealed = (directPath: string) => ({
  directPath,
  mediaKey: randomBytes(32),
  fileSha256: randomBytes(32),
  fileEncSha256: randomBytes(32),
  fileLength: 3,
  mimetype: "image/png",
});

async function receive(message: Record<string, unknown>): Promise<MediaContent> {
  const { control, contact, phone } = stage;
  const id = await control.sendMessage(contact.number, phone.number, { kind: "raw", message });
  return (await listener.message(id as MessageId)).content as MediaContent;
}

/** Neither the sender's address nor that of the phone's new upload is followed. */
async function expectUnfetched({ ref }: MediaContent): Promise<void> {
  const end = await listener.session.downloadMedia?.(ref, () => {}).catch(() => "failed");
  expect(["gone", "failed"]).toContain(end);
}

const FIELDS = [
  "imageMessage",
  "videoMessage",
  "audioMessage",
  "documentMessage",
  "stickerMessage",
  "ptvMessage",
];

/** Values that a sender can use as a path; `host` is the hostile server. */
const PATHS: [string, (host: string) => string][] = [
  ["an end of another name", () => ".attacker.example/x"],
  ["an end of another name with a port", (at) => `.attacker.example:${at.split(":")[1]}/x`],
  ["a port", (at) => `:${at.split(":")[1]}/x`],
  ["a user name", (at) => `@${at}/x`],
  ["a user name and a password", (at) => `:x@${at}/x`],
  ["two slashes", (at) => `//${at}/x`],
  ["two backslashes", (at) => `\\\\${at}\\x`],
  ["a slash and a backslash", (at) => `/\\${at}/x`],
  ["a whole address", (at) => `https://${at}/x`],
  ["a tab before it", (at) => `\t//${at}/x`],
  ["a line break in it", (at) => `/\n/${at}/x`],
  ["nothing", () => ""],
  ["3,000 characters", () => `/${"x".repeat(3_000)}`],
];

describe("a file that a contact sends with an address of the contact's choice", () => {
  it.each(FIELDS)("is not fetched from that address: %s", async (field) => {
    const path = `/v/${newMessageId()}`;
    const address = { url: `https://${host}/x`, ...sealed(path), thumbnailDirectPath: `@${host}/x` };
    await expectUnfetched(await receive({ [field]: address }));
  });

  it.each(PATHS)("is not fetched from that address: a path that is %s", async (_, pathAt) => {
    await expectUnfetched(
      await receive({ imageMessage: { url: `https://${host}/x`, ...sealed(pathAt(host)) } }),
    );
  });

  it("is not fetched from the target of a redirect", async () => {
    await stage.control.fault({
      fault: "media",
      method: "download",
      status: 302,
      location: `https://${host}/x`,
    });
    const { ref } = await receive({ imageMessage: sealed("/v/redirected") });
    await expect(listener.session.downloadMedia?.(ref, () => {})).rejects.toThrow("redirect");
  });

  it.each(PATHS)("is not fetched from the new address that the phone reports: %s", async (_, pathAt) => {
    await stage.control.fault({ fault: "media_retry_path", path: pathAt(host) });
    await expectUnfetched(await receive({ imageMessage: sealed(`/v/${newMessageId()}`) }));
  });

  it("is fetched from the network's own host, whatever its `url` says", async () => {
    const bytes = randomBytes(100);
    const file = {
      kind: "media",
      media_type: "document",
      mime_type: "text/plain",
      size: 100,
      bytes,
    } as const;
    const { content } = await listener.message(await stage.contact.sendMessage(file));
    const { ref } = content as MediaContent;
    expect(await downloadWhole(listener.session, { ...(ref as object), url: `https://${host}/x` })).toEqual(
      bytes,
    );
  });
});

describe("a file that Baileys fetches by itself", () => {
  const chats = (id: string) => [
    { chat: stage.contact.number, messages: [{ id, text: "Before", at: Date.now() - 1_000 }] },
  ];
  /** Waits until everything received before is handled. */
  const resolved = async () => {
    await listener.message(await stage.contact.sendMessage({ kind: "text", text: "next" }));
    await eventually(async () => expect(await stage.control.waiting(stage.phone.number)).toBe(0));
  };

  it("is fetched from WhatsApp's usual host: history", async () => {
    await stage.control.sendHistoryFile(stage.phone.number, chats(newMessageId()));
    await eventually(() => expect(names).toEqual(["mmg.whatsapp.net"]));
  });

  it.each(PATHS)("is not fetched from another host: history with a path that is %s", async (_, pathAt) => {
    const at = { url: `https://${host}/x`, directPath: pathAt(host) };
    await stage.control.sendHistoryFile(stage.phone.number, chats(newMessageId()), at);
    await resolved();
  });

  it.each([
    ["url", () => ({ url: `https://${host}/x` })],
    ["user name", () => ({ directPath: `@${host}/x` })],
    ["name", () => ({ directPath: ".attacker.example/x" })],
  ] as const)("is not fetched from another host: settings by their %s", async (_, at) => {
    const { control, phone } = stage;
    await control.fault({ fault: "external_snapshot", at: at(), times: 5 });
    await control.changeSetting(phone.number, { archive: true, lastMessages: [] }, stage.contact.jid);
    await resolved();
  });
});

describe("a file that the gateway uploads", () => {
  const send = (to: Jid) => {
    const bytes = randomBytes(100);
    const file = {
      kind: "media",
      media_type: "document",
      mime_type: "text/plain",
      size: 100,
      bytes,
    } as const;
    return listener.session.send(to, file, { id: newMessageId() });
  };

  it("is not sent to the target of a redirect", async () => {
    const location = `https://${host}/x`;
    await stage.control.fault({ fault: "media", method: "upload", status: 302, location, times: 3 });
    expect(await send(stage.contact.jid)).toMatchObject({
      outcome: expect.stringMatching(/not_sent|unknown/),
    });
  });

  it("is not sent to a host that is not the network's", async () => {
    await stage.control.fault({ fault: "media_host", host: "attacker.example", times: 3 });
    const other = stage.open({ egress: { lookup } });
    await other.pair(stage.phone);
    const file = { kind: "media", media_type: "document", mime_type: "text/plain", size: 3 } as const;
    const sent = other.session.send(
      stage.contact.jid,
      { ...file, bytes: randomBytes(3) },
      { id: newMessageId() },
    );
    expect((await sent).outcome).not.toBe("accepted");
  });
});
