import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { downloadWhole, eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { MediaContent } from "../../driver.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
});

afterAll(() => stage.stop());

const countReceipts = async () => (await stage.control.stanzas(stage.phone.number)).receipt ?? 0;

/** Also waits for the receipt, so that the next one is about the file. */
async function receive(bytes: Uint8Array): Promise<Record<string, unknown>> {
  const file = {
    kind: "media",
    media_type: "document",
    mime_type: "text/plain",
    file_name: "a.txt",
  } as const;
  const receipts = await countReceipts();
  const id = await stage.contact.sendMessage({ ...file, size: bytes.length, bytes });
  const { content } = await listener.message(id);
  await eventually(async () => expect(await countReceipts()).toBeGreaterThan(receipts));
  return (content as MediaContent).ref as Record<string, unknown>;
}

const fetchFile = (ref: unknown) => downloadWhole(listener.session, ref);

describe("a received file", () => {
  it.each([0, 1, 15, 16, 17, 300_000])("of %i bytes arrives complete, chunk by chunk", async (length) => {
    const bytes = randomBytes(length);
    expect(await fetchFile(await receive(bytes))).toEqual(bytes);
  });

  it("waits for the reader of its chunks, and stops when the reader throws", async () => {
    const ref = await receive(randomBytes(400_000));
    const pieces: number[] = [];
    let isBusy = false;
    await listener.session.downloadMedia?.(ref, async ({ length }) => {
      expect(isBusy).toBe(false);
      isBusy = true;
      await new Promise((done) => setImmediate(done));
      isBusy = false;
      pieces.push(length);
    });
    expect(pieces.length).toBeGreaterThan(2);
    const full = listener.session.downloadMedia?.(ref, () => {
      throw new Error("the disk is full");
    });
    await expect(full).rejects.toThrow("the disk is full");
  });

  it.each([
    ["hash", { sha256: Buffer.alloc(32).toString("base64") }],
    ["key", { key: Buffer.alloc(32).toString("base64") }],
  ])("is refused when its %s does not match", async (_, change) => {
    const ref = { ...(await receive(randomBytes(1_000))), ...change };
    await expect(fetchFile(ref)).rejects.toThrow();
  });

  it("is refused when its authentication code does not match", async () => {
    const bytes = randomBytes(1_000);
    const ref = await receive(bytes);
    await stage.control.fault({ fault: "broken_seal" });
    await expect(fetchFile(ref)).rejects.toThrow("does not match the checksum");
    expect(await fetchFile(ref)).toEqual(bytes);
  });

  it("is reported as missing when its reference is invalid", async () => {
    await expect(fetchFile({ some: "thing" })).rejects.toThrow("not a file of the WhatsApp network");
  });

  it("may fail temporarily, and be fetched later", async () => {
    const bytes = randomBytes(100);
    const ref = await receive(bytes);
    await stage.control.fault({ fault: "media", method: "download", status: 500 });
    await expect(fetchFile(ref)).rejects.toThrow();
    expect(await fetchFile(ref)).toEqual(bytes);
  });
});

describe("a file that the network no longer has", () => {
  it.each([403, 404, 410])("and for which it returns %i is uploaded again by the phone", async (status) => {
    const bytes = randomBytes(5_000);
    const ref = await receive(bytes);
    await stage.control.expireMedia();
    await stage.control.fault({ fault: "media", method: "download", status });
    expect(await fetchFile(ref)).toEqual(bytes);
  });

  it("is reported as gone when the phone no longer has it either", async () => {
    const ref = await receive(randomBytes(10));
    await stage.control.expireMedia({ phones: true });
    expect(await fetchFile(ref)).toBeUndefined();
  });

  it("is reported as gone when its message is unknown, as with one sent from here", async () => {
    const { message: _, ...ref } = await receive(randomBytes(10));
    await stage.control.expireMedia();
    expect(await fetchFile(ref)).toBeUndefined();
  });

  it("is not waited for after the connection has ended", async () => {
    const ref = await receive(randomBytes(10));
    await stage.control.expireMedia();
    await stage.control.fault({ fault: "receipt_lost" });
    await stage.control.clearLedger();
    const refused = expect(fetchFile(ref)).rejects.toThrow("The connection ended");
    await eventually(async () => {
      expect((await stage.control.stanzas(stage.phone.number)).receipt).toBe(1);
    });
    await stage.phone.drop();
    await refused;
    await listener.waitForEvent("connected", 2);
  });

  it("may be fetched later when the phone does not respond now", async () => {
    await listener.session.disconnect();
    listener = stage.open({ timing: { phoneMs: 300 } }, { credentials: listener.credentials });
    listener.session.connect();
    await listener.waitForEvent("connected");
    const bytes = randomBytes(10);
    const ref = await receive(bytes);
    await stage.control.expireMedia();
    await stage.control.fault({ fault: "receipt_lost" });
    await expect(fetchFile(ref)).rejects.toThrow("did not respond");
    await eventually(async () => expect(await fetchFile(ref)).toEqual(bytes));
  });
});
