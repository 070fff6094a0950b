import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampleSound, sampleVideo } from "../../../../../test/encoded-samples.ts";
import { bmpOf, HEIC_PICTURE, mp4Video } from "../../../../../test/media-samples.ts";
import { findProgram } from "../../../../../test/run/programs.ts";
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

/** The stored file of a send, with what the response says of its conversion; or the refusal. */
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
const WITHOUT_TITLE = Buffer.from("\ufeff  <!-- a --><html lang=en><body>Not here</body></html>");
const TABLE = Buffer.from("<html><body><table><tr><td>1</td></tr></table></body></html>");

const inUtf16 = (bytes: Buffer) => Buffer.from(`\ufeff${bytes}`, "utf16le");

type Input = object | (() => object | Promise<object>);
type Row = readonly [what: string, input: Input, meaning: Outcome];

const { pdf } = SAMPLE;
/** Its base64 has plus signs and two characters of padding. */
const PLUS = Buffer.concat([pdf, Buffer.from("fbefbefbefbe00fbef", "hex"), Buffer.from("end")]);
const base64 = (bytes: Buffer, more = {}) => ({ base64: bytes.toString("base64"), ...more });
const isPdf = { type: "document", mime_type: "application/pdf", file_name: "file.pdf" };
const refused = (message: string): Outcome => ({
  code: "VALIDATION_ERROR",
  message: expect.stringContaining(message) as unknown,
});

const IN_BASE64: readonly Row[] = [
  ["plain base64", base64(pdf), { ...isPdf, size: pdf.length }],
  [
    "base64 in lines",
    { base64: pdf.toString("base64").replace(/.{20}/g, "$&\r\n") },
    { ...isPdf, size: pdf.length },
  ],
  [
    "base64 of the alphabet of addresses",
    { base64: PLUS.toString("base64url") },
    { ...isPdf, size: PLUS.length },
  ],
  [
    "base64 without padding",
    { base64: PLUS.toString("base64").replace(/=+$/, "") },
    { ...isPdf, size: PLUS.length },
  ],
  [
    "base64 in percent signs",
    { base64: encodeURIComponent(PLUS.toString("base64")) },
    { ...isPdf, size: PLUS.length },
  ],
  [
    "base64 whose plus signs became blanks",
    { base64: PLUS.toString("base64").replaceAll("+", " ") },
    { ...isPdf, size: PLUS.length },
  ],
  [
    "base64 after a byte order mark",
    { base64: `\ufeff${pdf.toString("base64")}\n` },
    { ...isPdf, size: pdf.length },
  ],
  [
    "gzip that is named as a picture",
    base64(gzipSync(SAMPLE.png), { file_name: "a.png" }),
    refused("base64: is compressed with gzip"),
  ],
  ["base64 that was cut", { base64: pdf.toString("base64").slice(0, 41) }, refused("base64: is not whole")],
  ["a text", { base64: "not a file!" }, refused("base64: is not base64")],
  ["null as a text", { base64: "null" }, refused('base64: is the word "null", not a file')],
  [
    "None in a data URI",
    { url: "data:image/png;base64,None" },
    refused('url: is the word "None", not a file'),
  ],
  [
    "a page that is declared as a PDF",
    base64(PAGE, { mime_type: "application/pdf" }),
    refused('base64: is the page "Sign in & go on" instead of a file'),
  ],
  [
    "a page in UTF-16 that is named as a picture",
    base64(inUtf16(PAGE), { file_name: "photo.png" }),
    refused('base64: is the page "Sign in & go on" instead of a file'),
  ],
  [
    "a page in the data URI of a PDF",
    { url: `data:application/pdf;base64,${PAGE.toString("base64")}` },
    refused('url: is the page "Sign in & go on" instead of a file'),
  ],
  ["a page that is called one", base64(PAGE, { mime_type: "text/html" }), { mime_type: "text/html" }],
  [
    "a list in UTF-16",
    base64(inUtf16(Buffer.from("nome;fone\nAna;1\n")), { file_name: "list.csv" }),
    { type: "document", mime_type: "text/csv", file_name: "list.csv" },
  ],
  ["an empty file", { base64: "data:application/pdf;base64," }, refused("base64: is empty")],
  ["a data URI", { url: `data:application/pdf;base64,${pdf.toString("base64")}` }, isPdf],
  [
    "a data URI with parameters",
    { base64: `data:application/pdf;name=a.pdf;base64,${pdf.toString("base64")}` },
    isPdf,
  ],
  [
    "a data URI without base64",
    { base64: "data:text/plain,Hello" },
    refused("base64: is a data URI without base64"),
  ],
  ["base64 as an address", { url: pdf.toString("base64") }, refused("url: must be an http or https address")],
  ["no file at all", { caption: "Hello" }, refused("url: one of url, base64 and file is required")],
];

const at = (path: string, headers: Record<string, string>, bytes: Buffer) => () => ({
  url: files.serve(path, (response) => response.writeHead(200, headers).end(bytes)),
});
const named = (path: string, disposition: string) =>
  at(path, { "content-type": "application/pdf", "content-disposition": disposition }, pdf);
const inLatin1 = (text: string) => Buffer.from(text).toString("latin1");

const AT_ADDRESSES: readonly Row[] = [
  [
    "an address with a name",
    at("/a/offer%207.pdf", { "content-type": "application/pdf" }, pdf),
    { ...isPdf, file_name: "offer 7.pdf" },
  ],
  ["an address without a name", at("/?id=7", { "content-type": "application/pdf" }, pdf), isPdf],
  [
    "a name in UTF-8",
    named("/n1", inLatin1('attachment; filename="N\u00famero.pdf"')),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name in ISO-8859-1",
    named("/n2", 'attachment; filename="N\u00famero.pdf"'),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name of RFC 8187",
    named("/n3", "attachment; filename=x.pdf; filename*=UTF-8''N%C3%BAmero.pdf"),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name of RFC 8187 in ISO-8859-1",
    named("/n4", "attachment; filename*=ISO-8859-1'pt'N%FAmero.pdf"),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name of RFC 2047 in base64",
    named("/n5", 'attachment; filename="=?UTF-8?B?TsO6bWVyby5wZGY=?="'),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name of RFC 2047 in Shift_JIS",
    named("/n6", 'attachment; filename="=?Shift_JIS?Q?=93=FA=96=7B.pdf?="'),
    { file_name: "\u65e5\u672c.pdf" },
  ],
  [
    "a name of RFC 2231 in parts",
    named("/n7", "attachment; filename*0*=UTF-8''N%C3%BA; filename*1=mero.pdf"),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name in percent signs",
    named("/n8", 'attachment; filename="N%C3%BAmero.pdf"'),
    { file_name: "N\u00famero.pdf" },
  ],
  [
    "a name with a path",
    named("/n9", 'attachment; filename="C:\\\\fatura.pdf"'),
    { file_name: "fatura.pdf" },
  ],
  [
    "a stored Content-Encoding",
    at("/z", { "content-type": "application/pdf", "content-encoding": "gzip" }, gzipSync(pdf)),
    { ...isPdf, file_name: "z.pdf", size: pdf.length },
  ],
  [
    "gzip without its Content-Encoding",
    at("/z1.pdf", { "content-type": "application/pdf" }, gzipSync(pdf)),
    refused("url: is compressed with gzip"),
  ],
  [
    "gzip that only its server calls a table",
    at("/z2", { "content-type": "text/csv" }, gzipSync("a,b")),
    refused("url: is compressed with gzip"),
  ],
  [
    "gzip that is named so",
    at("/z3.pdf.gz", { "content-type": "application/pdf" }, gzipSync(pdf)),
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
    "an address that is not there",
    () => ({ url: files.at("/missing") }),
    { code: "MEDIA_DOWNLOAD_FAILED", message: expect.stringContaining("responded with 404") },
  ],
  ["an address of FTP", { url: "ftp://example.com/a.pdf" }, refused("url: must be an http or https address")],
];

const draw = (background: string) => sharp({ create: { width: 40, height: 30, channels: 4, background } });
const red = () => draw("red").removeAlpha();
const moving = async () => {
  const frames = [await red().png().toBuffer(), await draw("blue").removeAlpha().png().toBuffer()];
  return sharp(frames, { join: { animated: true } })
    .gif({ delay: [200, 200] })
    .toBuffer();
};
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
  ["a PNG", base64(SAMPLE.png), sent("image", "image/png")],
  ["a JPEG", base64(SAMPLE.jpeg), sent("image", "image/jpeg")],
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
  ["a HEIC", base64(heic), turned("image/heic", "document")],
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
  ["a PDF as a sticker", base64(pdf, { type: "sticker" }), refused("type: the file is not a picture")],
  ["a PDF as an image", base64(pdf, { type: "image" }), refused("type: the file is not an image")],
  [
    "a PNG called a video",
    base64(SAMPLE.png, { mime_type: "video/mp4" }),
    refused("mime_type: the file is image/png"),
  ],
  ["an MP4", base64(mp4), sent("video", "video/mp4")],
  ["an MP4 as a video note", base64(mp4, { type: "ptv" }), sent("video", "video/mp4")],
  [
    "a video note with a caption",
    base64(mp4, { ptv: true, caption: "Hi" }),
    refused("caption: is not shown"),
  ],
  ["a PNG as a video note", base64(SAMPLE.png, { ptv: true }), refused("type: the file is not a video")],
  [
    "a PNG that plays as a GIF",
    base64(SAMPLE.png, { gif_playback: true }),
    refused("gif_playback: is allowed only for videos"),
  ],
  ["a file that is seen once", base64(SAMPLE.png, { viewOnce: true }), refused("viewOnce: is not supported")],
  ["an MP3", base64(SAMPLE.mp3), sent("audio", "audio/mpeg")],
  ["Ogg Opus", base64(SAMPLE.opus), sent("audio", "audio/ogg; codecs=opus")],
  ["Ogg Opus as a voice note", base64(SAMPLE.opus, { ptt: true }), sent("ptt", "audio/ogg; codecs=opus")],
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
    "a text with the name of a table",
    base64(SAMPLE.text, { file_name: "a.csv" }),
    sent("document", "text/csv"),
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
  const rows = [...IN_BASE64, ...AT_ADDRESSES, ...OF_KINDS, ...(findProgram("ffmpeg") ? WITH_FFMPEG : [])];
  test.each(rows)("%s", async (_, input, meaning) => {
    expect(await send(typeof input === "function" ? await input() : input)).toMatchObject(meaning);
  });
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
  const at = (path: string, bytes: Buffer, type: string, more = {}) => ({
    url: files.serve(path, file(bytes, type)),
    ...more,
  });

  test.each<[string, () => object, string]>([
    [
      "named as a PDF",
      () => at("/invoice.pdf", PAGE, "text/html; charset=utf-8"),
      'the page "Sign in & go on"',
    ],
    [
      "for sharing",
      () => at("/file/d/1x2/view?usp=sharing", PAGE, "text/html"),
      'the page "Sign in & go on"',
    ],
    ["of a picture", () => at("/photo", PAGE, "text/html", { type: "image" }), 'the page "Sign in & go on"'],
    ["of a document", () => at("/a", PAGE, "text/html", { type: "document" }), 'the page "Sign in & go on"'],
    ["with the type of a PDF", () => at("/b.pdf", PAGE, "application/pdf"), 'the page "Sign in & go on"'],
    ["without a type", () => at("/c.mp4", PAGE, "application/octet-stream"), 'the page "Sign in & go on"'],
    ["in UTF-16", () => at("/n.pdf", inUtf16(PAGE), "application/pdf"), 'the page "Sign in & go on"'],
    ["without a title", () => at("/d.png", WITHOUT_TITLE, "image/png"), "a page"],
    ["that is plain words", () => at("/e", Buffer.from("Not found"), "text/html"), "a page"],
    [
      "that the caller names",
      () => at("/f", PAGE, "text/html", { file_name: "offer.pdf" }),
      'the page "Sign in & go on"',
    ],
    [
      "with a type of the caller",
      () => at("/g.html", PAGE, "text/html", { mime_type: "application/pdf" }),
      'the page "Sign in & go on"',
    ],
    [
      "after a redirect",
      () => {
        files.serve("/sign-in.html", file(PAGE, "text/html"));
        return { url: files.serve("/h.pdf", redirect("/sign-in.html")) };
      },
      'the page "Sign in & go on"',
    ],
  ])("%s is refused with its title", async (_, input, page) => {
    const { code, message } = await send(input());
    expect(code).toBe("VALIDATION_ERROR");
    expect(message).toContain(`url: returns ${page} instead of a file`);
  });

  test.each<[string, () => object, string]>([
    ["its address names one", () => at("/terms.html", PAGE, "text/html"), "text/html"],
    ["the caller's name says so", () => at("/i", PAGE, "text/html", { file_name: "terms.htm" }), "text/html"],
    ["the caller's type says so", () => at("/j", PAGE, "text/html", { mime_type: "text/html" }), "text/html"],
    [
      "it is a table of a spreadsheet",
      () => at("/k.xls", TABLE, "application/vnd.ms-excel"),
      "application/vnd.ms-excel",
    ],
    [
      "it is a text that only its server calls a page",
      () => at("/l.csv", SAMPLE.text, "text/html"),
      "text/html",
    ],
    [
      "it is a PDF that only its server calls a page",
      () => at("/m", SAMPLE.pdf, "text/html"),
      "application/pdf",
    ],
  ])("is sent when %s", async (_, input, mime_type) => {
    expect(await send(input())).toMatchObject({ type: "document", mime_type });
  });
});

describe("a text at the address of a file", () => {
  const at = (path: string, text: string, type: string, more = {}) => ({
    url: files.serve(path, file(Buffer.from(text), type)),
    ...more,
  });
  const DENIED = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
  const DECLARED = `<?xml version="1.0" encoding="UTF-8"?>\n${DENIED}`;
  const EXPIRED = '{"error": "The link has expired"}';

  test.each<[string, () => object, string]>([
    ["of an object store", () => at("/a.pdf", DECLARED, "application/xml"), "AccessDenied Access Denied"],
    [
      "of an object store, with the type of the file",
      () => at("/b.jpg", `\ufeff${DENIED}`, "image/jpeg"),
      "AccessDenied Access Denied",
    ],
    ["of an API", () => at("/c.docx", EXPIRED, "application/json"), EXPIRED],
    [
      "of an API, in place of a picture",
      () => at("/d", EXPIRED, "application/json", { type: "image" }),
      EXPIRED,
    ],
    ["of an API that calls it a page", () => at("/e.mp4", EXPIRED, "text/html"), EXPIRED],
    [
      "of an API, in place of what the caller names",
      () => at("/f.json", EXPIRED, "application/json", { file_name: "invoice.pdf" }),
      EXPIRED,
    ],
    ["in words", () => at("/g.zip", "No such file\n", "text/plain"), "No such file"],
  ])("%s is refused with what it says", async (_, input, text) => {
    const { code, message } = await send(input());
    expect(code).toBe("VALIDATION_ERROR");
    expect(message).toContain(`url: returns the text "${text}" instead of a file`);
  });

  test.each<[string, () => object, string]>([
    ["its address names it", () => at("/h.json", EXPIRED, "application/json"), "application/json"],
    ["its address says nothing", () => at("/i", DECLARED, "application/xml"), "application/xml"],
    [
      "the caller's type says so",
      () => at("/j.pdf", EXPIRED, "application/json", { mime_type: "application/json" }),
      "application/json",
    ],
    [
      "the caller's name says so",
      () => at("/k.pdf", EXPIRED, "application/json", { file_name: "data.json" }),
      "application/json",
    ],
    ["it is a drawing", () => at("/l.png", SAMPLE.svg.toString(), "image/svg+xml"), "image/svg+xml"],
    [
      "it is a PDF that only its server calls a text",
      () => at("/m.pdf", SAMPLE.pdf.toString(), "text/plain"),
      "application/pdf",
    ],
  ])("is sent when %s", async (_, input, mime_type) => {
    expect(await send(input())).toMatchObject({ type: "document", mime_type });
  });
});
