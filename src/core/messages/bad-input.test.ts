import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../test/sample-files.ts";
import {
  drip,
  endless,
  type FileServer,
  file,
  lyingAboutLength,
  startFileServer,
} from "../../../test/servers/file-server.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { createMediaConverter } from "../../platform/media/media-converter.ts";
import { createSafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { readMedia } from "./send/prepare/read-media.ts";

const MIB = 1_048_576;
const PHONE = "5511988881111";

let story: MessagingStory;
let files: FileServer;

beforeAll(async () => {
  story = await startMessagingStory({ WAYGATE_MEDIA_MAX_MB: "1" });
  files = await startFileServer();
});

afterAll(async () => {
  await files.close();
  await story.stop();
});

let before: Awaited<ReturnType<MessagingStory["rows"]>>;

beforeEach(async () => {
  before = await story.rows();
});

afterEach(async () => {
  // An accepted send moves its file when it completes.
  await waitUntil(async () => (await story.rows()).files === 0);
  expect(await story.rows(), "what the refused request has left behind").toEqual(before);
});

type Body = Record<string, unknown>;

const post = async (route: string, body: Body) => {
  const response = await story.request(`POST /api/v1/instances/${story.sales.id}/${route}`, body);
  return { status: response.status, ...response.body };
};

/** Expects the same error for sync and async. */
async function expectRefusal(route: string, body: Body, expected: object) {
  const refusals = [await post(route, body), await post(route, { async: true, ...body })];
  for (const refusal of refusals) expect(refusal).toMatchObject({ success: false, ...expected });
}

const invalid = (field: string, issue?: string) => ({
  status: 400,
  code: "VALIDATION_ERROR",
  details: { fields: [{ field, issue: issue ? expect.stringContaining(issue) : expect.any(String) }] },
});

const png = inBase64(SAMPLE.png);
const undownloaded = (words = "") => ({
  status: 502,
  code: "MEDIA_DOWNLOAD_FAILED",
  message: expect.stringContaining(words),
});

describe("a file", () => {
  const nothing = file(Buffer.alloc(0), "image/png");
  const part = (response: ServerResponse) => response.writeHead(206).end(SAMPLE.png);
  const breakOff = (response: ServerResponse) =>
    response.writeHead(200, { "content-length": 1000 }).write(SAMPLE.png, () => response.destroy());

  test.each<[string, object | (() => object), object]>([
    ["invalid base64", { base64: "not base64!" }, invalid("base64", "is not base64")],
    ["a data URI without base64", { base64: "data:text/plain,hello" }, invalid("base64", "without base64")],
    ["empty base64", { base64: "" }, invalid("url", "is required")],
    ["an empty data URI", { base64: "data:image/png;base64," }, invalid("base64", "is empty")],
    ["missing", {}, invalid("url", "is required")],
    ["bare base64 as an address", { url: png }, invalid("url", "http")],
    ["a file address of the node", { url: "file:///etc/passwd" }, invalid("url", "http")],
    ["an address with a line break", { url: "http://example.com/\r\nHost: x" }, invalid("url")],
    ["a metadata address", { url: "http://169.254.169.254/latest/meta-data" }, invalid("url", "policy")],
    ["at an unknown host name", { url: "http://nowhere.invalid/a.png" }, undownloaded()],
    ["at a port without a server", { url: "http://127.0.0.1:1/a.png" }, undownloaded()],
    ["missing at its address", () => ({ url: files.at("/missing") }), undownloaded("404")],
    ["a part of one at its address", () => ({ url: files.serve("/part", part) }), undownloaded("206")],
    ["broken off by its server", () => ({ url: files.serve("/cut", breakOff) }), undownloaded()],
    ["empty at its address", () => ({ url: files.serve("/empty", nothing) }), invalid("url", "is empty")],
    ["an invalid sticker", { base64: inBase64(SAMPLE.pdf), type: "sticker" }, invalid("type", "a picture")],
    [
      "a PDF declared as an image",
      { base64: inBase64(SAMPLE.pdf), type: "image" },
      invalid("type", "not an image"),
    ],
    [
      "declared an image but a drawing",
      { base64: inBase64(SAMPLE.svg), type: "image" },
      invalid("type", "not an image"),
    ],
    ["declared a video but an image", { base64: png, type: "video" }, invalid("type", "not a video")],
    ["declared audio but an image", { base64: png, type: "audio" }, invalid("type", "not audio")],
    [
      "declared a voice note but a text",
      { base64: inBase64(SAMPLE.text), ptt: true },
      invalid("type", "not audio"),
    ],
    [
      "a page declared as a picture",
      { base64: inBase64(SAMPLE.html), mime_type: "image/jpeg" },
      invalid("base64", "is a page instead of a file"),
    ],
    [
      "a PDF declared as a picture",
      { base64: inBase64(SAMPLE.pdf), mime_type: "image/png" },
      invalid("mime_type", "application/pdf"),
    ],
    [
      "a picture declared as a PDF",
      { base64: png, mime_type: "application/pdf" },
      invalid("mime_type", "image/png"),
    ],
    [
      "of an invalid content type",
      { base64: png, mime_type: "image/png\r\nSet-Cookie: a=b" },
      invalid("mime_type"),
    ],
    [
      "audio with words that phones would not show",
      { base64: inBase64(SAMPLE.mp3), caption: "Hi" },
      invalid("caption", "is not shown with audio"),
    ],
    [
      "a sticker with words that phones would not show",
      { base64: inBase64(SAMPLE.webp), type: "sticker", caption: "Hi" },
      invalid("caption", "is not shown with a sticker"),
    ],
    [
      "a document marked as view-once",
      { base64: png, type: "document", viewOnce: true },
      invalid("viewOnce", "only an image"),
    ],
    [
      "a sticker marked as view-once",
      { base64: png, type: "sticker", view_once: true },
      invalid("view_once", "only an image"),
    ],
    [
      "a picture with the pack of a sticker",
      { base64: png, pack_name: "Shop" },
      invalid("pack_name", "only for a sticker"),
    ],
    ["a picture sent as a GIF video", { base64: png, gifPlayback: true }, invalid("gifPlayback", "videos")],
  ])("is rejected if it is %s", async (_, source, refusal) => {
    const file = typeof source === "function" ? source() : source;
    await expectRefusal("send-media", { number: PHONE, ...file }, refusal);
  });

  test("is rejected if the upload is empty", async () => {
    const { sales } = story;
    const upload = { bytes: Buffer.alloc(0), file_name: "empty.png" };
    await expect(sales.client.sendMedia({ id: sales.id, number: PHONE, file: upload })).rejects.toMatchObject(
      invalid("file", "is empty"),
    );
  });

  test("is rejected if it arrives too slowly and the time limit passes", async () => {
    const outgoing = createSafeFetch({ allowedHosts: ["loopback"] });
    const { db } = story.gateway.database;
    const converter = createMediaConverter({ ffmpeg: "ffmpeg", scratchDir: tmpdir() });
    const reading = readMedia(
      { url: files.serve("/drip", drip()) },
      { db, outgoing, converter, maxBytes: MIB, downloadMs: 300, account_id: 1 },
    );
    await expect(reading).rejects.toMatchObject({ code: "MEDIA_DOWNLOAD_FAILED" });
    await outgoing.close();
  });
});

describe("a file larger than the limit", () => {
  const tooLarge = { status: 413, code: "PAYLOAD_TOO_LARGE" };
  const big = Buffer.alloc(MIB + 1, 1);

  test.each([
    ["endless, without a length", () => files.serve("/endless", endless())],
    ["whole, with its length", () => files.serve("/big", file(big))],
    ["declared as 2 GB with a few bytes", () => files.serve("/lie", lyingAboutLength(2 ** 31, SAMPLE.png))],
  ])("%s, is rejected with 413 and leaves nothing", async (_, url) => {
    await expectRefusal("send-media", { number: PHONE, url: url() }, tooLarge);
  });

  test("in base64 is rejected with 413", async () => {
    await expectRefusal(
      "send-media",
      { number: PHONE, base64: inBase64(big) },
      { ...tooLarge, details: { max_bytes: MIB } },
    );
  });

  test("as an upload is rejected with 413", async () => {
    const { sales } = story;
    await expect(
      sales.client.sendMedia({ id: sales.id, number: PHONE, file: { bytes: big } }),
    ).rejects.toMatchObject(tooLarge);
  });

  test("in a body beyond every limit is rejected with 413", async () => {
    expect(await post("send-media", { number: PHONE, base64: "A".repeat(4 * MIB) })).toMatchObject(tooLarge);
  });

  test("exceeds it by at least one byte: a file of exactly the limit is sent", async () => {
    const { sales, friend } = story;
    const url = files.serve("/limit", file(Buffer.alloc(MIB, 1)));
    const { data } = await sales.client.sendMedia({ id: sales.id, number: friend.phone, url });
    expect((await story.arrived(data.message_id ?? "")).media.size).toBe(MIB);
    before = { ...before, messages: before.messages + 1 };
  });

  test("announced in a request of 2 GB is rejected before the body arrives", async () => {
    const { hostname, port } = new URL(story.gateway.url);
    const response = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST /api/v1/instances/${story.sales.id}/send-media HTTP/1.1\r\nhost: x\r\nx-api-key: ${story.sales.api_key}\r\ncontent-type: application/json\r\ncontent-length: 2147483648\r\n\r\n{"number":`,
        );
      });
      socket.once("data", (data) => resolve(data.toString("utf8")) ?? socket.destroy());
      socket.once("error", reject);
    });
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(response).toContain("PAYLOAD_TOO_LARGE");
  });
});

describe("a file name", () => {
  test.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\Windows\\system.ini", "system.ini"],
    ["..", "file"],
    ["a\r\nSet-Cookie: x=y.png", "aSet-Cookie: x=y.png"],
    ["invoice\u202Egnp.exe", "invoicegnp.exe"],
    [`${"x".repeat(249)}😀`, "x".repeat(200)],
    ["con.txt", "con.txt"],
  ])("%j is sent as %j", async (input, shown) => {
    const { sales, friend } = story;
    const { data } = await sales.client.sendMedia({
      id: sales.id,
      number: friend.phone,
      base64: png,
      file_name: input,
    });
    expect((await story.arrived(data.message_id ?? "")).media.file_name).toBe(shown);
    before = { ...before, messages: before.messages + 1 };
  });

  test("of an upload may have any length and any characters", async () => {
    const { sales, friend } = story;
    const { data } = await sales.client.sendMedia({
      id: sales.id,
      number: friend.phone,
      file: { bytes: SAMPLE.png, file_name: `a${"😀".repeat(300)}` },
    });
    expect((await story.arrived(data.message_id ?? "")).media.file_name).toBe(`a${"😀".repeat(199)}`);
    before = { ...before, messages: before.messages + 1 };
  });
});

describe("a contact card", () => {
  const vcard = (...lines: string[]) => ["BEGIN:VCARD", "VERSION:3.0", ...lines, "END:VCARD"].join("\r\n");

  test.each([
    ["without a name", { phone: "5511977772222" }, "name"],
    ["without a phone", { name: "Ana" }, "phone"],
    ["whose name has a line break", { name: "Ana\r\nTEL:5511900000000", phone: "5511977772222" }, "name"],
    [
      "whose name has another kind of line break",
      { name: "Ana\u2028TEL:55", phone: "5511977772222" },
      "name",
    ],
    ["whose phone has a line break", { name: "Ana", phone: "5511977772222\r\nNOTE:x" }, "phone"],
    ["whose phone is not a number", { name: "Ana", phone: "call me" }, "phone"],
    ["whose phone is a group", { name: "Ana", phone: "120363000000000001@g.us" }, "phone"],
    ["that is not a vCard", { vcard: "hello" }, "vcard"],
    ["that does not end", { vcard: "BEGIN:VCARD\nFN:Ana\nTEL:5511977772222" }, "vcard"],
    ["in a vCard without a name", { vcard: vcard("TEL:5511977772222") }, "name"],
    ["in a vCard without a phone", { vcard: vcard("FN:Ana") }, "phone"],
    [
      "in a vCard with a name of 5,000 characters",
      { vcard: vcard(`FN:${"x".repeat(5000)}`, "TEL:5511977772222") },
      "name",
    ],
  ])("%s is rejected", async (_, card, field) => {
    await expectRefusal("send-contact", { number: PHONE, ...card }, invalid(field));
  });

  test("in a vCard that contains a second card is the first card", async () => {
    const { sales, friend } = story;
    const hidden = `${vcard("FN:Ana\\nTEL:5511900000000", "TEL:5511977772222")}\r\n${vcard("FN:Eve", "TEL:5511900000000")}`;
    const { data } = await sales.client.sendContact({ id: sales.id, number: friend.phone, vcard: hidden });
    const message = await story.arrived(data.message_id ?? "");
    const first = vcard("FN:Ana\\nTEL:5511900000000", "TEL;waid=5511977772222:5511977772222");
    expect(message.contacts).toEqual([
      { name: "Ana TEL:5511900000000", phone: "5511977772222", vcard: first.replaceAll("\r\n", "\n") },
    ]);
    before = { ...before, messages: before.messages + 1 };
  });
});

describe("a place", () => {
  test.each([
    ["latitude", "-23,5", "-90 to 90"],
    ["longitude", "-46,63", "-180 to 180"],
    ["latitude", "-23,46", "-90 to 90"],
  ])("whose %s is %j could be two numbers, so it is refused", async (field, written, range) => {
    const body = { number: PHONE, latitude: "-23.5", longitude: "-46.63", [field]: written };
    const issue = `must be degrees from ${range} with a decimal point, such as -23.5`;
    await expectRefusal("send-location", body, invalid(field, issue));
  });
});

describe("a reply", () => {
  const unknown = { status: 404, code: "MESSAGE_NOT_FOUND" };

  test.each([
    ["send-reply", { message_id: "3EB0UNKNOWN", text: "Yes" }],
    ["send-text", { reply_to: "3EB0UNKNOWN", text: "Yes" }],
    ["send-media", { reply_to: "3EB0UNKNOWN", base64: png }],
    ["send-location", { reply_to: "3EB0UNKNOWN", latitude: 1, longitude: 1 }],
  ])("by %s to a message that is not in the log is rejected", async (route, body) => {
    await expectRefusal(route, { number: PHONE, ...body }, unknown);
  });

  test("that names no message to reply to is rejected", async () => {
    await expectRefusal("send-reply", { number: PHONE, text: "Yes" }, invalid("message_id"));
    const response = await story.request("POST /api/v1/send", { number: PHONE, type: "reply", text: "Yes" });
    expect(response.body).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("a request", () => {
  test.each([
    ["mentions", ["nobody"]],
    ["metadata", { text: "x".repeat(8192) }],
    ["reply_to", [7]],
  ])("with %s set to %j is rejected", async (field, value) => {
    await expectRefusal("send-text", { number: PHONE, text: "Hi", [field]: value }, invalid(field));
  });
});
