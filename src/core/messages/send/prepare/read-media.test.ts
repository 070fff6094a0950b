import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampleSound, sampleVideo } from "../../../../../test/encoded-samples.ts";
import { bmpOf, HEIC_PICTURE, mp4Video } from "../../../../../test/media-samples.ts";
import { needs } from "../../../../../test/run/programs.ts";
import { SAMPLE } from "../../../../../test/sample-files.ts";
import { type FileServer, file, redirect, startFileServer } from "../../../../../test/servers/file-server.ts";
import { type MessagingStory, startMessagingStory } from "../../../../../test/stories/messaging-story.ts";

let story: MessagingStory;
let files: FileServer;

beforeAll(async () => {
  story = await startMessagingStory();
  files = await startFileServer();
});

afterAll(async () => {
  await files.close();
  await story.stop();
});

type Outcome = Record<string, unknown>;

/** The stored file of a send with its conversion in the response, or the refusal. */
async function send(input: object, { sales, friend, outcome } = story): Promise<Outcome> {
  try {
    const { data } = await sales.client.sendMedia({ id: sales.id, number: friend.phone, ...input } as never);
    const { type, mime_type, file_name, size } = (await outcome(data.message_id ?? "")).data.message.media;
    const { converted, hint } = data;
    return {
      type,
      mime_type,
      file_name,
      size,
      ...(converted && { converted: [converted.from, converted.to] }),
      ...(hint && { hint }),
    };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

const PAGE = Buffer.from(
  "<!DOCTYPE html>\n<html><head><title>Sign in &amp; go on</title></head><body>...</body></html>",
);
const TITLED = 'the page "Sign in & go on"';
const WITHOUT_TITLE = Buffer.from("\ufeff  <!-- a --><html lang=en><body>Not here</body></html>");
const TABLE = Buffer.from("<html><body><table><tr><td>1</td></tr></table></body></html>");

const inUtf16 = (bytes: Buffer) => Buffer.from(`\ufeff${bytes}`, "utf16le");

/** A file at a URL, with the caller's metadata. */
const served = (path: string, bytes: Buffer, type?: string, more = {}) => ({
  url: files.serve(path, file(bytes, type)),
  ...more,
});

type Input = object | (() => object | Promise<object>);
type Row = readonly [what: string, input: Input, meaning: Outcome];

const { pdf } = SAMPLE;
/** Its base64 contains plus signs and two padding characters. */
const PLUS = Buffer.concat([pdf, Buffer.from("fbefbefbefbe00fbef", "hex"), Buffer.from("end")]);
const base64 = (bytes: Buffer, more = {}) => ({ base64: bytes.toString("base64"), ...more });
const isPdf = { type: "document", mime_type: "application/pdf", file_name: "file.pdf" };
const refused = (message: string): Outcome => ({
  code: "VALIDATION_ERROR",
  message: expect.stringContaining(message) as unknown,
});

const IN_BASE64: readonly Row[] = [
  [
    "base64 in percent signs",
    { base64: encodeURIComponent(PLUS.toString("base64")) },
    { ...isPdf, size: PLUS.length },
  ],
  [
    "gzip that is named as a picture",
    base64(gzipSync(SAMPLE.png), { file_name: "a.png" }),
    refused("base64: is compressed with gzip"),
  ],
  ["null as a text", { base64: "null" }, refused('base64: is the word "null", not a file')],
  [
    "None in a data URI",
    { url: "data:image/png;base64,None" },
    refused('url: is the word "None", not a file'),
  ],
  [
    "a page that is declared as a PDF",
    base64(PAGE, { mime_type: "application/pdf" }),
    refused(`base64: is ${TITLED} instead of a file`),
  ],
  [
    "a page in UTF-16 that is named as a picture",
    base64(inUtf16(PAGE), { file_name: "photo.png" }),
    refused(`base64: is ${TITLED} instead of a file`),
  ],
  [
    "a page in the data URI of a PDF",
    { url: `data:application/pdf;base64,${PAGE.toString("base64")}` },
    refused(`url: is ${TITLED} instead of a file`),
  ],
  ["a page that is called one", base64(PAGE, { mime_type: "text/html" }), { mime_type: "text/html" }],
  ["a data URI", { url: `data:application/pdf;base64,${pdf.toString("base64")}` }, isPdf],
];

const named = (path: string, disposition: string) => () => ({
  url: files.serve(path, (response) =>
    response
      .writeHead(200, { "content-type": "application/pdf", "content-disposition": disposition })
      .end(pdf),
  ),
});
const redirected = (from: string, to: string) => () => {
  files.serve(to, file(pdf, "application/pdf"));
  return { url: files.serve(from, redirect(to)) };
};

/** The tests of `file-names.ts` cover headers and addresses. */
const AT_ADDRESSES: readonly Row[] = [
  [
    "an address with a name",
    () => served("/a/offer%207.pdf", pdf, "application/pdf"),
    { ...isPdf, file_name: "offer 7.pdf" },
  ],
  ["an address without a name", () => served("/?id=7", pdf, "application/pdf"), isPdf],
  [
    "a name in the header and another one in the address",
    named("/n3.pdf", "attachment; filename=x.pdf; filename*=UTF-8''N%C3%BAmero.pdf"),
    { file_name: "N\u00famero.pdf" },
  ],
  ["a header without a name", named("/view?id=7", "inline"), { file_name: "view.pdf" }],
  ["a name without an extension", named("/n4", "attachment; filename=offer"), { file_name: "offer.pdf" }],
  [
    "a name with a path",
    named("/n9", "attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd.pdf"),
    { file_name: "passwd.pdf" },
  ],
  [
    "a stored Content-Encoding",
    () => ({
      url: files.serve("/z", (response) =>
        response
          .writeHead(200, { "content-type": "application/pdf", "content-encoding": "gzip" })
          .end(gzipSync(pdf)),
      ),
    }),
    { ...isPdf, file_name: "z.pdf", size: pdf.length },
  ],
  [
    "gzip without its Content-Encoding",
    () => served("/z1.pdf", gzipSync(pdf), "application/pdf"),
    refused("url: is compressed with gzip"),
  ],
  [
    "gzip that only its server calls a table",
    () => served("/z2", gzipSync("a,b"), "text/csv"),
    refused("url: is compressed with gzip"),
  ],
  [
    "gzip that is named so",
    () => served("/z3.pdf.gz", gzipSync(pdf), "application/pdf"),
    { type: "document", mime_type: "application/gzip", file_name: "z3.pdf.gz" },
  ],
  [
    "five redirects",
    () => {
      files.serve("/r0", file(pdf, "application/pdf"));
      for (let n = 1; n <= 5; n++) files.serve(`/r${n}`, redirect(`/r${n - 1}`));
      return { url: files.at("/r5") };
    },
    { ...isPdf, file_name: "r5.pdf" },
  ],
  [
    "a redirect from an address with an extension to one without",
    redirected("/latest/prices.pdf", "/store/8f3a"),
    { ...isPdf, file_name: "prices.pdf" },
  ],
  [
    "a redirect from an address without an extension to one with it",
    redirected("/latest", "/store/menu.pdf"),
    { ...isPdf, file_name: "menu.pdf" },
  ],
];

const draw = (background: string) => sharp({ create: { width: 40, height: 30, channels: 4, background } });
const red = () => draw("red").removeAlpha();
const twoFrames = async () => {
  const frames = [await red().png().toBuffer(), await draw("blue").removeAlpha().png().toBuffer()];
  return sharp(frames, { join: { animated: true } });
};
const moving = async () => (await twoFrames()).gif({ delay: [200, 200] }).toBuffer();
const twoPages = async () => (await twoFrames()).tiff().toBuffer();
const heic = Buffer.concat([Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1"), Buffer.alloc(64)]);
const mp4 = mp4Video({ width: 64, height: 48, seconds: 1 });
const sent = (type: string, mime_type: string) => ({ type, mime_type });
const turned = (from: string, to: string, type = to.split("/")[0]) =>
  to === "document"
    ? {
        type: "document",
        mime_type: from,
        converted: [from, to],
        hint: expect.stringContaining(from) as unknown,
      }
    : { type, mime_type: to, converted: [from, to], hint: expect.stringContaining(to) as unknown };

const OF_KINDS: readonly Row[] = [
  ["a WebP", async () => base64(await red().webp().toBuffer()), turned("image/webp", "image/jpeg")],
  [
    "a transparent WebP",
    async () => base64(await draw("#f008").webp().toBuffer()),
    turned("image/webp", "image/png"),
  ],
  [
    "an AVIF",
    async () => base64(await red().avif({ effort: 0 }).toBuffer()),
    turned("image/avif", "image/jpeg"),
  ],
  ["a TIFF", async () => base64(await red().tiff().toBuffer()), turned("image/tiff", "image/jpeg")],
  ["a still GIF", async () => base64(await red().gif().toBuffer()), turned("image/gif", "image/png")],
  ["a GIF that is damaged", base64(SAMPLE.gif), turned("image/gif", "document")],
  ["a WebP that is damaged", base64(SAMPLE.webp), turned("image/webp", "document")],
  ["a TIFF with two pages", async () => base64(await twoPages()), turned("image/tiff", "document")],
  ["a HEIC with the type image", base64(heic, { type: "image" }), turned("image/heic", "document")],
  [
    "a WebP as a document",
    async () => base64(await red().webp().toBuffer(), { type: "document" }),
    sent("document", "image/webp"),
  ],
  ["an SVG", base64(SAMPLE.svg, { mime_type: "image/svg+xml" }), sent("document", "image/svg+xml")],
  [
    "a PNG with the name of a JPEG",
    base64(SAMPLE.png, { file_name: "a.jpg", mime_type: "image/jpeg" }),
    sent("image", "image/png"),
  ],
  [
    "a PNG as a sticker",
    base64(SAMPLE.png, { type: "sticker", file_name: "cat.png" }),
    { ...turned("image/png", "image/webp", "sticker"), file_name: "cat.webp" },
  ],
  ["a PNG in the field sticker", { sticker: SAMPLE.png.toString("base64") }, sent("sticker", "image/webp")],
  [
    "a moving GIF as a sticker",
    async () => base64(await moving(), { type: "sticker" }),
    turned("image/gif", "image/webp", "sticker"),
  ],
  [
    "an AVIF as a sticker",
    async () => base64(await red().avif({ effort: 0 }).toBuffer(), { type: "sticker" }),
    turned("image/avif", "image/webp", "sticker"),
  ],
  [
    "a HEIC as a sticker",
    base64(HEIC_PICTURE, { type: "sticker" }),
    turned("image/heic", "image/webp", "sticker"),
  ],
  [
    "a WebP of another size as a sticker",
    async () => base64(await red().webp().toBuffer(), { type: "sticker" }),
    turned("image/webp", "image/webp", "sticker"),
  ],
  [
    "a HEIC that is damaged as a sticker",
    base64(heic, { type: "sticker" }),
    refused("base64: is not an image that can be read"),
  ],
  ["an MP4 as a video note", base64(mp4, { type: "ptv" }), sent("video", "video/mp4")],
  [
    "a video note with a caption",
    base64(mp4, { ptv: true, caption: "Hi" }),
    refused("caption: is not shown"),
  ],
  ["a PNG as a video note", base64(SAMPLE.png, { ptv: true }), refused("type: the file is not a video")],
  ["Ogg Opus", base64(SAMPLE.opus), sent("audio", "audio/ogg; codecs=opus")],
  [
    "Ogg Opus in the field audio",
    { audio: SAMPLE.opus.toString("base64") },
    sent("ptt", "audio/ogg; codecs=opus"),
  ],
  ["a ZIP", base64(SAMPLE.zip), sent("document", "application/zip")],
  [
    "a program called a PDF",
    base64(SAMPLE.exe, { mime_type: "application/pdf" }),
    sent("document", "application/x-msdownload"),
  ],
  [
    "an office document that is declared more exactly than its content",
    base64(SAMPLE.zip, { mime_type: "application/vnd.ms-word" }),
    sent("document", "application/vnd.ms-word"),
  ],
  [
    "a picture that is also a script",
    base64(Buffer.concat([SAMPLE.gif, Buffer.from("/*alert(1)*/")])),
    sent("document", "image/gif"),
  ],
  ["sound in an MP4", base64(SAMPLE.mp4, { type: "audio" }), sent("audio", "audio/mp4")],
  [
    "a JPEG that its server calls a table",
    () => served("/t1", SAMPLE.jpeg, "text/csv"),
    sent("image", "image/jpeg"),
  ],
  [
    "Ogg Opus that its server calls Ogg",
    () => served("/t2", SAMPLE.opus, "audio/ogg", { ptt: true }),
    sent("ptt", "audio/ogg; codecs=opus"),
  ],
  [
    "a text that its server calls a table",
    () => served("/t3", SAMPLE.text, "text/csv"),
    sent("document", "text/csv"),
  ],
  [
    "a text that the caller calls a table",
    base64(SAMPLE.text, { mime_type: "text/csv" }),
    sent("document", "text/csv"),
  ],
  [
    "a text with the name of a table",
    base64(SAMPLE.text, { file_name: "a.csv" }),
    sent("document", "text/csv"),
  ],
  [
    "a page with the name of one",
    base64(SAMPLE.html, { file_name: "a.html" }),
    sent("document", "application/octet-stream"),
  ],
  [
    "a text without a name",
    base64(SAMPLE.text),
    { ...sent("document", "application/octet-stream"), file_name: "file" },
  ],
];

const recording = () => sampleSound("webm", ["-c:a", "libopus"]);

const WITH_FFMPEG: readonly Row[] = [
  ["a moving GIF", async () => base64(await moving()), turned("image/gif", "video/mp4")],
  ["a BMP", base64(bmpOf(40, 30)), turned("image/bmp", "image/jpeg")],
  [
    "a WebM",
    async () => base64(await sampleVideo(["-c:v", "libvpx", "-f", "webm"]), { file_name: "a.webm" }),
    { ...turned("video/webm", "video/mp4"), file_name: "a.mp4" },
  ],
  [
    "an AVI as a video note",
    async () => base64(await sampleVideo(["-f", "avi"]), { type: "ptv" }),
    turned("video/vnd.avi", "video/mp4"),
  ],
  [
    "a WebM of Opus without a picture",
    async () => base64(await recording(), { file_name: "recording.webm" }),
    { ...turned("audio/webm", "audio/ogg; codecs=opus"), file_name: "recording.ogg" },
  ],
  [
    "a WebM without a picture that is called a video",
    async () => base64(await recording(), { mime_type: "video/webm" }),
    turned("audio/webm", "audio/ogg; codecs=opus"),
  ],
  [
    "a WebM whose declared type names Opus",
    async () => base64(await recording(), { mime_type: "audio/webm;codecs=opus" }),
    turned("audio/webm;codecs=opus", "audio/ogg; codecs=opus"),
  ],
  [
    "a WebM of Vorbis without a picture",
    async () => base64(await sampleSound("webm", ["-c:a", "libvorbis"])),
    turned("audio/webm", "audio/mp4"),
  ],
  [
    "a WebM without a picture as a voice note",
    async () => base64(await recording(), { ptt: true, mime_type: "audio/webm;codecs=opus" }),
    sent("ptt", "audio/ogg; codecs=opus"),
  ],
  [
    "a WebM without a picture as a video",
    async () => base64(await recording(), { type: "video" }),
    refused("type: the file is not a video"),
  ],
  [
    "an MP4 without a picture, as Safari records it",
    async () => base64(await sampleSound("mp4", ["-movflags", "frag_keyframe+empty_moov"])),
    sent("audio", "audio/mp4"),
  ],
  ["a WAV", async () => base64(await sampleSound("wav")), turned("audio/wav", "audio/mp4")],
  [
    "a FLAC",
    async () => base64(await sampleSound("flac"), { file_name: "song.flac" }),
    { ...turned("audio/flac", "audio/mp4"), file_name: "song.m4a" },
  ],
  [
    "a WAV as a voice note",
    async () => base64(await sampleSound("wav"), { ptt: true }),
    sent("ptt", "audio/ogg; codecs=opus"),
  ],
  ["an M4A", async () => base64(await sampleSound("ipod")), sent("audio", "audio/x-m4a")],
];

describe("a file is sent as what it is, converted for phones, or refused", () => {
  const check = async (_: string, input: Row[1], meaning: Row[2]) =>
    expect(await send(typeof input === "function" ? await input() : input)).toMatchObject(meaning);
  test.each([...IN_BASE64, ...AT_ADDRESSES, ...OF_KINDS])("%s", check);
  test.each(WITH_FFMPEG)("with ffmpeg: %s", needs("ffmpeg"), check);
});

describe("without ffmpeg", () => {
  let bare: MessagingStory;
  beforeAll(async () => {
    bare = await startMessagingStory({ WAYGATE_FFMPEG: "/nowhere/ffmpeg" });
  });
  afterAll(() => bare.stop());

  const webm = Buffer.concat([Buffer.from("\x1aE\xdf\xa3\x87\x42\x82\x84webm", "latin1"), Buffer.alloc(64)]);
  const mov = Buffer.concat([Buffer.from("\0\0\0\x14ftypqt  \0\0\0\0qt  ", "latin1"), Buffer.alloc(64)]);
  const MISSING = "ffmpeg, with which the gateway converts such files, is not installed";

  test.each<Row>([
    ["a video goes as a document", base64(webm), { type: "document", converted: ["video/webm", "document"] }],
    ["a video note goes as a document", base64(webm, { ptv: true }), { type: "document" }],
    [
      "other audio goes as a document",
      base64(SAMPLE.wav),
      { type: "document", converted: ["audio/wav", "document"] },
    ],
    [
      "a moving GIF goes as a picture",
      async () => base64(await moving()),
      { type: "image", converted: ["image/gif", "image/png"] },
    ],
  ])("%s, and the response says why", async (_, input, meaning) => {
    const sent = await send(typeof input === "function" ? await input() : input, bare);
    expect(sent).toMatchObject({ ...meaning, hint: expect.stringContaining(MISSING) });
  });

  test("a QuickTime video and an MP4 go as they are", async () => {
    expect(await send(base64(mov), bare)).toEqual({
      type: "video",
      mime_type: "video/quicktime",
      file_name: null,
      size: mov.length,
    });
    expect(await send(base64(mp4), bare)).toEqual({
      type: "video",
      mime_type: "video/mp4",
      file_name: null,
      size: mp4.length,
    });
  });
});

describe("a page at the address of a file", () => {
  test.each<[string, string, Buffer, string, string, object?]>([
    ["named as a PDF", "/invoice.pdf", PAGE, "text/html; charset=utf-8", TITLED],
    ["for sharing", "/file/d/1x2/view?usp=sharing", PAGE, "text/html", TITLED],
    ["of a picture", "/photo", PAGE, "text/html", TITLED, { type: "image" }],
    ["of a document", "/a", PAGE, "text/html", TITLED, { type: "document" }],
    ["with the type of a PDF", "/b.pdf", PAGE, "application/pdf", TITLED],
    ["without a type", "/c.mp4", PAGE, "application/octet-stream", TITLED],
    ["in UTF-16", "/n.pdf", inUtf16(PAGE), "application/pdf", TITLED],
    ["without a title", "/d.png", WITHOUT_TITLE, "image/png", "a page"],
    ["that is plain words", "/e", Buffer.from("Not found"), "text/html", "a page"],
    ["that the caller names", "/f", PAGE, "text/html", TITLED, { file_name: "offer.pdf" }],
    ["with a type of the caller", "/g.html", PAGE, "text/html", TITLED, { mime_type: "application/pdf" }],
  ])("%s is refused with its title", async (_, path, bytes, type, page, more) => {
    const refusal = refused(`url: returns ${page} instead of a file`);
    expect(await send(served(path, bytes, type, more))).toEqual(refusal);
  });

  test("is refused with its title after a redirect", async () => {
    served("/sign-in.html", PAGE, "text/html");
    const url = files.serve("/h.pdf", redirect("/sign-in.html"));
    expect(await send({ url })).toEqual(refused(`url: returns ${TITLED} instead of a file`));
  });

  const { pdf, text } = SAMPLE;
  test.each<[string, string, Buffer, string, string, object?]>([
    ["its address names one", "/terms.html", PAGE, "text/html", "text/html"],
    ["the caller's name says so", "/i", PAGE, "text/html", "text/html", { file_name: "terms.htm" }],
    ["the caller's type says so", "/j", PAGE, "text/html", "text/html", { mime_type: "text/html" }],
    ["it is a table", "/k.xls", TABLE, "application/vnd.ms-excel", "application/vnd.ms-excel"],
    ["it is a text that only its server calls a page", "/l.csv", text, "text/html", "text/html"],
    ["it is a PDF that only its server calls a page", "/m", pdf, "text/html", "application/pdf"],
  ])("is sent when %s", async (_, path, bytes, type, mime_type, more) => {
    expect(await send(served(path, bytes, type, more))).toMatchObject(sent("document", mime_type));
  });
});

describe("a text at the address of a file", () => {
  const DENIED = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
  const DECLARED = `<?xml version="1.0" encoding="UTF-8"?>\n${DENIED}`;
  const EXPIRED = '{"error": "The link has expired"}';
  const [SAID, JSON_TYPE] = ["AccessDenied Access Denied", "application/json"];
  const invoice = { file_name: "invoice.pdf" };

  test.each<[string, string, string, string, string, object?]>([
    ["of an object store", "/a.pdf", DECLARED, "application/xml", SAID],
    ["of an object store, with the type of the file", "/b.jpg", `\ufeff${DENIED}`, "image/jpeg", SAID],
    ["of an API", "/c.docx", EXPIRED, JSON_TYPE, EXPIRED],
    ["of an API, in place of a picture", "/d", EXPIRED, JSON_TYPE, EXPIRED, { type: "image" }],
    ["of an API that calls it a page", "/e.mp4", EXPIRED, "text/html", EXPIRED],
    ["of an API, in place of what the caller names", "/f.json", EXPIRED, JSON_TYPE, EXPIRED, invoice],
    ["in words", "/g.zip", "No such file\n", "text/plain", "No such file"],
  ])("%s is refused with what it says", async (_, path, text, type, said, more) => {
    const refusal = refused(`url: returns the text "${said}" instead of a file`);
    expect(await send(served(path, Buffer.from(text), type, more))).toEqual(refusal);
  });

  const [svg, pdf] = [SAMPLE.svg.toString(), SAMPLE.pdf.toString()];
  test.each<[string, string, string, string, string, object?]>([
    ["its address names it", "/h.json", EXPIRED, JSON_TYPE, JSON_TYPE],
    ["its address says nothing", "/i", DECLARED, "application/xml", "application/xml"],
    ["the caller's type says so", "/j.pdf", EXPIRED, JSON_TYPE, JSON_TYPE, { mime_type: JSON_TYPE }],
    ["the caller's name says so", "/k.pdf", EXPIRED, JSON_TYPE, JSON_TYPE, { file_name: "data.json" }],
    ["it is a drawing", "/l.png", svg, "image/svg+xml", "image/svg+xml"],
    ["it is a PDF that only its server calls a text", "/m.pdf", pdf, "text/plain", "application/pdf"],
  ])("is sent when %s", async (_, path, text, type, mime_type, more) => {
    expect(await send(served(path, Buffer.from(text), type, more))).toMatchObject(
      sent("document", mime_type),
    );
  });
});
