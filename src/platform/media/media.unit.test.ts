import sharp, { type Sharp } from "sharp";
import { describe, expect, it, test } from "vitest";
import { HEIC_PICTURE, mp4Video, oggOpus, webpSticker } from "../../../test/media-samples.ts";
import { blackPng, SAMPLE } from "../../../test/sample-files.ts";
import { decodeHeic } from "./decode-heic.ts";
import { detectMediaType, detectReceivedType } from "./detect-media-type.ts";
import { readMp4Metadata } from "./read-mp4-metadata.ts";
import { readOggOpus } from "./read-ogg-opus.ts";
import { readPicture } from "./read-picture.ts";
import { isSticker, toSquareImage, toSticker } from "./to-square-image.ts";
import { WaveformMeter } from "./waveform-meter.ts";

async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

function mp4(bytes: Buffer) {
  let reads = 0;
  const read = async (at: number, length: number) => {
    reads += 1;
    return bytes.subarray(at, at + length);
  };
  return readMp4Metadata(read, bytes.length).then((facts) => ({ facts, reads }));
}

const utf16 = (text: string) => Buffer.from(text, "utf16le");

test.each<[string, Buffer]>([
  ["UTF-16", utf16("\ufeffnome;fone\r\nJo\u00e3o;5511987650003\r\n")],
  ["UTF-16 with the other order of bytes", utf16("\ufeffnome;fone\r\nAna;1\r\n").swap16()],
  ["UTF-16 without a mark", utf16("nome;fone\r\nAna;1\r\n")],
  ...["BMI;weight", "ID3;name", "MZ;name", "GIF;name", "GIF89a;name", "solid floor;1", "FWS;name"].map(
    (text): [string, Buffer] => [`the words ${text}`, Buffer.from(`${text}\r\nS\u00e3o Paulo;1\r\n`)],
  ),
  ["the words of an old program", Buffer.from("BMI;pre\u00e7o\r\n1;2\r\n", "latin1")],
])("a text in %s is no picture, sound or program", async (_, head) => {
  const detected = await detectMediaType(head, { name_mime_type: "text/csv" });
  expect(detected).toEqual({ media_type: "document", mime_type: "text/csv" });
  await expect(detectMediaType(head, { type: "image" })).rejects.toThrow("type: the file is not an image");
});

test.each([
  utf16("\ufeffnome;fone\r\nAna;1\r\n"),
  Buffer.from("ID3;name\r\n1;Ana\r\n"),
  Buffer.from("MZ;name\r\n"),
])("the received text %j keeps its declared type", async (head) => {
  expect(await detectReceivedType(head, "text/csv")).toBe("text/csv");
  expect(await detectReceivedType(SAMPLE.mp3, "text/csv")).toBe("audio/mpeg");
});

test.each([
  [
    "a PDF that is text alone",
    Buffer.from("%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj"),
    "application/pdf",
  ],
  ["XML", Buffer.from('<?xml version="1.0"?><a/>'), "application/xml"],
  ["XML in UTF-16", utf16('\ufeff<?xml version="1.0"?><a/>'), "application/xml"],
  ["a card", Buffer.from("BEGIN:VCARD\nVERSION:3.0\nFN:Ana\nEND:VCARD\n"), "text/vcard"],
  ["a GIF", SAMPLE.gif, "image/gif"],
  ["an MP3", SAMPLE.mp3, "audio/mpeg"],
  ["a JPEG of three bytes", Buffer.from([0xff, 0xd8, 0xff]), "image/jpeg"],
])("%s is recognised by its bytes", async (_, head, mime_type) => {
  expect((await detectMediaType(head, {})).mime_type).toBe(mime_type);
});

describe("the length and the loudness of Ogg Opus", () => {
  const sizes = Array.from({ length: 500 }, (_, n) => (n < 250 ? 20 : 200));

  it.each([1, 7, 4096, 1_000_000])("are read from its pages in pieces of %i bytes", async (length) => {
    const { seconds, waveform = [] } = await readOggOpus(pieces(oggOpus(sizes), length));
    expect(seconds).toBe(10);
    expect(waveform).toHaveLength(64);
    expect(waveform.slice(0, 30).every((level) => level === 10)).toBe(true);
    expect(waveform.slice(34).every((level) => level === 100)).toBe(true);
  });

  it("leave out the loudness where all packets are equal and show nothing", async () => {
    const facts = await readOggOpus(pieces(oggOpus(sizes.map(() => 80)), 4096));
    expect(facts).toEqual({ seconds: 10 });
  });

  it("are a second and nothing for a file that is no Ogg, ends early or lies about its length", async () => {
    const lying = oggOpus([10, 20]);
    lying.writeBigInt64LE(2n ** 62n, lying.lastIndexOf("OggS") + 6);
    expect((await readOggOpus(pieces(lying, 999))).seconds).toBe(86_400);
    for (const bytes of [Buffer.from("nothing"), Buffer.alloc(100_000), oggOpus([]), lying.subarray(0, 40)])
      expect(await readOggOpus(pieces(bytes, 999))).toEqual({ seconds: 1 });
  });
});

it("the 64 levels of a sound of any length have a maximum of 100", () => {
  const meter = new WaveformMeter();
  for (let n = 0; n < 1_000_000; n++) meter.add(n);
  const levels = meter.waveform() ?? [];
  expect(levels).toHaveLength(64);
  expect(levels.at(-1)).toBe(100);
  expect(levels).toEqual([...levels].sort((one, other) => one - other));
});

describe("the header of an MP4", () => {
  it("gives size and length, wherever it is in the file", async () => {
    for (const isLast of [false, true]) {
      const { facts } = await mp4(mp4Video({ width: 640, height: 360, seconds: 12, isLast }));
      expect(facts).toEqual({ width: 640, height: 360, seconds: 12 });
    }
  });

  it("gives the sides as they are shown when the picture is rotated", async () => {
    const { facts } = await mp4(mp4Video({ width: 640, height: 360, seconds: 1, isTurned: true }));
    expect(facts).toMatchObject({ width: 360, height: 640 });
  });

  it("is not trusted beyond the file, and never costs more than 256 boxes", async () => {
    const sound = mp4Video({ width: 640, height: 360, seconds: 12 });
    for (let cut = 0; cut < 500; cut++) await mp4(sound.subarray(0, cut));
    for (let at = 0; at < 500; at++) {
      const broken = Buffer.from(sound);
      broken[at] = 0xff;
      expect((await mp4(broken)).reads).toBeLessThan(600);
    }
    const box = Buffer.from("\0\0\0\x08free", "latin1");
    const many = Buffer.concat(Array.from({ length: 50_000 }, () => box));
    expect(await mp4(many)).toEqual({ facts: {}, reads: 256 });
    const endless = Buffer.from("\0\0\0\x01moov\0\0\0\0\0\0\0\x10", "latin1");
    expect((await mp4(Buffer.concat([endless, endless]))).facts).toEqual({});
  });
});

test.each([
  ["still", 1, false],
  ["animated", 2, true],
  // All frames together exceed the pixel limit of a picture.
  ["long", 200, true],
])("a sticker that is %s has a size and says whether it moves", async (_, frames, is_animated) => {
  expect(await readPicture(await webpSticker(frames))).toEqual({ width: 512, height: 512, is_animated });
});

test("what is no picture, half of one or too large has no size", async () => {
  const sticker = await webpSticker(2);
  for (const bytes of [
    Buffer.alloc(64),
    Buffer.alloc(0),
    SAMPLE.webp,
    sticker.subarray(0, 29),
    blackPng(20_000),
  ])
    expect(await readPicture(bytes)).toBeUndefined();
});

function draw(width: number, height: number, background = "#c02020") {
  return sharp({ create: { width, height, channels: 4, background } });
}

const HALF = draw(600, 600)
  .png()
  .toBuffer()
  .then((whole) => whole.subarray(0, 200));

describe("a profile picture", () => {
  test.each(["png", "webp", "gif", "jpeg", "tiff"] as const)(
    "that is %s becomes a JPEG square",
    async (format) => {
      const square = await toSquareImage(await draw(900, 300).toFormat(format).toBuffer(), "image");
      expect(await sharp(square).metadata()).toMatchObject({ format: "jpeg", width: 640, height: 640 });
    },
  );

  test("that is small is enlarged, and its transparent parts become white", async () => {
    const square = await toSquareImage(await draw(3, 2, "#00000000").png().toBuffer(), "image");
    expect(await sharp(square).metadata()).toMatchObject({ width: 640, height: 640, channels: 3 });
    expect((await sharp(square).stats()).channels.map(({ min }) => min)).toEqual([255, 255, 255]);
  });

  test("is turned upright, and contains no location", async () => {
    const lying = await draw(4, 8).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { orientation, exif } = await sharp(await toSquareImage(lying, "image")).metadata();
    expect([orientation, exif]).toEqual([undefined, undefined]);
  });

  test("of 5,000 by 5,000 pixels is accepted", async () => {
    expect(await toSquareImage(blackPng(5_000), "image")).toBeInstanceOf(Buffer);
  });

  test("of 20,000 by 20,000 pixels is refused before it is decoded", async () => {
    await expect(toSquareImage(blackPng(20_000), "image")).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "image", issue: "has more than 50 million pixels" }] },
    });
  });

  test.each<[string, Buffer | Promise<Buffer>]>([
    ["text", Buffer.from("not a picture")],
    ["nothing", Buffer.alloc(0)],
    // Its size is not read, because nothing parses it.
    ["a drawing", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"/>')],
    ["half of one", HALF],
  ])("that is %s is refused", async (_, bytes) => {
    await expect(toSquareImage(await bytes, "image")).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "image", issue: "is not an image that can be read" }] },
    });
  });
});

/** Frames of random pixels, the same in each run, one below the other. */
function disorder(width: number, height: number, frames = 1): Sharp {
  let state = 1;
  const data = Buffer.from(
    Array.from({ length: width * height * frames * 3 }, () => {
      state = (state * 48_271) % 2_147_483_647;
      return state >> 8;
    }),
  );
  return sharp(data, { raw: { width, height: height * frames, channels: 3, pageHeight: height } });
}

describe("a sticker", () => {
  test("of a picture has all of it in 512 pixels each way, on a transparent ground", async () => {
    const sticker = await toSticker(await draw(900, 300).tiff().toBuffer(), "file", 1);
    const { data, info } = await sharp(sticker).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 512, height: 512, channels: 4 });
    const opacityAt = (x: number, y: number) => data[(y * 512 + x) * 4 + 3];
    expect([opacityAt(256, 256), opacityAt(256, 10)]).toEqual([255, 0]);
  });

  test("of a picture full of detail has at most 100 KB", async () => {
    const sticker = await toSticker(await disorder(600, 600).png().toBuffer(), "file", 1);
    expect(isSticker({ width: 512, height: 512, is_animated: false }, sticker.length)).toBe(true);
    expect(sticker.length).toBeLessThanOrEqual(102_400);
  });

  test("of a GIF keeps its frames and their times", async () => {
    const gif = await disorder(20, 20, 3)
      .gif({ delay: [100, 200, 300], loop: 0 })
      .toBuffer();
    const sticker = await toSticker(gif, "file", 1);
    const { format, pages, delay, loop } = await sharp(sticker).metadata();
    expect({ format, pages, delay, loop }).toEqual({
      format: "webp",
      pages: 3,
      delay: [100, 200, 300],
      loop: 0,
    });
    expect(await readPicture(sticker)).toEqual({ width: 512, height: 512, is_animated: true });
  });

  test.each([
    [
      "has too many frames",
      () => disorder(2, 2, 200),
      "has 200 frames. Send an animation of at most 190 frames",
    ],
    ["stays larger than 500 KB", () => disorder(512, 512, 8), "has more than 500 KB as a sticker"],
  ])("of a GIF that %s is refused", async (_, image, issue) => {
    const gif = await image().gif({ effort: 1, colours: 16, dither: 0 }).toBuffer();
    await expect(toSticker(gif, "file", 1)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining(issue),
    });
  });
});

describe("a HEIC picture", () => {
  /** The two properties of the sample with its coded and its shown size. */
  const withSize = (width: number, height: number) => {
    const bytes = Buffer.from(HEIC_PICTURE);
    for (let at = bytes.indexOf("ispe"); at >= 0; at = bytes.indexOf("ispe", at + 4)) {
      bytes.writeUInt32BE(width, at + 8);
      bytes.writeUInt32BE(height, at + 12);
    }
    return bytes;
  };

  const decode = (bytes: Buffer, account_id = 1) =>
    decodeHeic(
      async () => bytes,
      account_id,
      (tiff) => tiff,
    );

  it("is decoded without loss and without an alpha channel that it does not have", async () => {
    const tiff = await decode(HEIC_PICTURE);
    const { data, info } = await sharp(tiff).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 40, height: 30, channels: 3 });
    const [red = 0, green = 0, blue = 0] = data.subarray(data.length / 2);
    expect([red > 180, green < 60, blue < 60]).toEqual([true, true, true]);
  });

  it.each([
    ["is cut", HEIC_PICTURE.subarray(0, -20)],
    [
      "has other bytes where its picture was",
      Buffer.concat([HEIC_PICTURE.subarray(0, -60), Buffer.alloc(60)]),
    ],
    ["is empty", Buffer.alloc(0)],
    ["is something else", SAMPLE.pdf],
    ["claims 26 million pixels", withSize(6_500, 4_000)],
    ["claims 4 billion times 4 billion pixels", withSize(2 ** 32 - 1, 2 ** 32 - 1)],
  ])("that %s is undefined, and the next one is decoded", async (_, bytes) => {
    expect(await decode(bytes)).toBeUndefined();
    expect(await decode(HEIC_PICTURE)).toBeDefined();
  });

  it("of an account is decoded before all those that another account has sent earlier", async () => {
    const decoded: number[] = [];
    const decodeFor = (account_id: number) =>
      decode(HEIC_PICTURE, account_id).then(() => decoded.push(account_id));
    await Promise.all([1, 1, 1, 1, 2].map(decodeFor));
    expect(decoded).toEqual([1, 1, 2, 1, 1]);
  });

  it("is not read before the one ahead of it is decoded and used", async () => {
    const steps: string[] = [];
    const one = (name: string) =>
      decodeHeic(
        async () => {
          steps.push(`read ${name}`);
          return HEIC_PICTURE;
        },
        1,
        () => steps.push(`used ${name}`),
      );
    await Promise.all([one("a"), one("b")]);
    expect(steps).toEqual(["read a", "used a", "read b", "used b"]);
  });
});
