import { execFile } from "node:child_process";
import { chmod, open as openFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { fileTypeFromBuffer } from "file-type";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { sampleSound, sampleVideo } from "../../../test/encoded-samples.ts";
import { bmpOf, oggOpus } from "../../../test/media-samples.ts";
import { needs } from "../../../test/run/programs.ts";
import { makeScratchDir, type ScratchDir } from "../../../test/run/scratch-dir.ts";
import { type Conversion, createMediaConverter } from "./media-converter.ts";
import { readMp4Metadata } from "./read-mp4-metadata.ts";

let dir: ScratchDir;
beforeAll(async () => {
  dir = await makeScratchDir();
});
afterAll(() => dir.remove());

const share = (ffmpeg: string) => createMediaConverter({ ffmpeg, scratchDir: dir.path });
const open = (ffmpeg: string) => share(ffmpeg).forAccount(1);
const make = (ffmpeg: string, bytes: Buffer, type: string) =>
  open(ffmpeg).toOggOpus(Readable.from([bytes]), type, "url");

/** Writes an executable that replaces ffmpeg. */
async function fakeFfmpeg(name: string, script: string): Promise<string> {
  const path = join(dir.path, name);
  await writeFile(path, `#!/bin/sh\n${script}`);
  await chmod(path, 0o755);
  return path;
}

/** A two-second tone: 8 kHz, 16 bits, mono. */
function tone(): Buffer {
  const samples = Buffer.alloc(32_000);
  for (let n = 0; n < 16_000; n++) samples.writeInt16LE(Math.round(8000 * Math.sin(n / 3)), n * 2);
  const head = Buffer.from(
    "RIFF    WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data    ",
    "latin1",
  );
  head.writeUInt32LE(samples.length + 36, 4);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

function bytesOf(converted: Conversion): Buffer {
  if (typeof converted === "string") throw new Error(`the conversion is ${converted}`);
  return converted;
}

async function describeMp4(bytes: Buffer) {
  const facts = await readMp4Metadata(async (at, length) => bytes.subarray(at, at + length), bytes.length);
  return { mime: (await fileTypeFromBuffer(bytes))?.mime, ...facts };
}

describe("a media file with ffmpeg", needs("ffmpeg"), () => {
  test.each([
    ["WebM", "video/webm", ["-c:v", "libvpx", "-c:a", "libopus", "-f", "webm"]],
    ["Matroska", "video/matroska", ["-c:v", "mpeg4", "-c:a", "flac", "-f", "matroska"]],
    ["AVI", "video/vnd.avi", ["-c:v", "mpeg4", "-c:a", "mp2", "-f", "avi"]],
    ["Windows Media", "video/x-ms-asf", ["-c:v", "wmv2", "-c:a", "wmav2", "-f", "asf"]],
    ["Flash", "video/x-flv", ["-c:v", "flv", "-an", "-f", "flv"]],
    ["MPEG", "video/MP1S", ["-c:v", "mpeg2video", "-r", "25", "-c:a", "mp2", "-f", "mpeg"]],
    ["a transport stream", "video/mp2t", ["-c:v", "mpeg2video", "-r", "25", "-c:a", "mp2", "-f", "mpegts"]],
    [
      "QuickTime",
      "video/quicktime",
      ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le", "-f", "mov"],
    ],
    ["QuickTime that an MP4 cannot hold", "video/quicktime", ["-c:v", "prores", "-an", "-f", "mov"]],
  ])("becomes an MP4 of its size and length if it is %s", async (_, type, args) => {
    const video = bytesOf(await open("ffmpeg").toMp4(Readable.from([await sampleVideo(args)]), type));
    expect(await describeMp4(video)).toMatchObject({ mime: "video/mp4", width: 64, height: 48, seconds: 1 });
    expect(video.includes("avc1")).toBe(true);
  });

  test.each([
    ["WAV", "audio/wav"],
    ["FLAC", "audio/flac"],
    ["AIFF", "audio/aiff"],
  ])("becomes AAC of its length if it is %s", async (_, type) => {
    const sound = await sampleSound(type.slice("audio/".length));
    const audio = bytesOf(await open("ffmpeg").toM4a(Readable.from([sound]), type));
    expect(await describeMp4(audio)).toMatchObject({ mime: "audio/x-m4a", seconds: 1 });
  });

  test("is not converted if it is damaged, or has a type that no reader knows", async () => {
    const damaged = () => Readable.from([Buffer.from("\x1a\x45\xdf\xa3nothing", "latin1")]);
    expect(await open("ffmpeg").toMp4(damaged(), "video/webm")).toBe("failed");
    expect(await open("ffmpeg").toM4a(damaged(), "audio/wav")).toBe("failed");
    expect(await open("ffmpeg").toMp4(damaged(), "video/x-unknown")).toBe("failed");
    expect(await open("ffmpeg").toM4a(damaged(), "audio/midi")).toBe("failed");
  });

  test("becomes Ogg Opus with its length when it is audio", async () => {
    const { bytes, seconds } = await make("ffmpeg", tone(), "audio/wav");
    expect((await fileTypeFromBuffer(bytes))?.mime).toBe("audio/ogg; codecs=opus");
    expect(seconds).toBe(2);
  });

  test("becomes an MP4 with even sides if it is an animated GIF, and a video has a thumbnail", async () => {
    const frames = await sharp({ create: { width: 33, height: 66, channels: 3, background: "red" } })
      .raw()
      .toBuffer();
    const raw = { width: 33, height: 66, channels: 3, pageHeight: 33 } as const;
    const gif = await sharp(frames, { raw })
      .gif({ loop: 0, delay: [500, 500] })
      .toBuffer();
    const video = bytesOf(await open("ffmpeg").toGifVideo(Readable.from([gif])));
    expect(await describeMp4(video)).toEqual({ mime: "video/mp4", width: 34, height: 34, seconds: 1 });
    const picture = await open("ffmpeg").toThumbnail(Readable.from([video]), "video/mp4");
    expect((await sharp(picture).metadata()).format).toBe("jpeg");
  });

  test("becomes a JPEG of the same size if it is a BMP", async () => {
    const jpeg = await open("ffmpeg").toJpeg(Readable.from([bmpOf(40, 30)]), "image/bmp");
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: "jpeg", width: 40, height: 30 });
    const damaged = Readable.from([bmpOf(40, 30).subarray(0, 60)]);
    expect(await open("ffmpeg").toJpeg(damaged, "image/bmp")).toBeUndefined();
  });

  test("is refused as audio when it is no audio", async () => {
    const refusal = { code: "VALIDATION_ERROR", message: expect.stringContaining("is not an audio file") };
    await expect(make("ffmpeg", Buffer.from("RIFFnothing"), "audio/wav")).rejects.toMatchObject(refusal);
  });

  test("opens no other file when it is a playlist that claims to be audio", async () => {
    const secret = join(dir.path, "secret.wav");
    await writeFile(secret, tone());
    const playlist = Buffer.from(`ID3\x04\0\0\0\0\0\0#EXTM3U\n#EXTINF:2,\nfile://${secret}\n`, "latin1");
    await expect(make("ffmpeg", playlist, "audio/mpeg")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("a media file without ffmpeg", () => {
  test("is not converted to Ogg Opus, and the error says why", async () => {
    const refusal = { code: "NOT_SUPPORTED", message: expect.stringContaining("ffmpeg") };
    await expect(make("/nowhere/ffmpeg", tone(), "audio/wav")).rejects.toMatchObject(refusal);
    expect((await readdir(dir.path)).filter((name) => /^[0-9a-f]{24}$/.test(name))).toEqual([]);
  });

  test("is converted by the configured program, without the gateway's environment", async () => {
    const script = 'for last; do case "$last" in /*) cat "$last";; esac; done\nenv | grep -c TEST\n:';
    const fake = await fakeFfmpeg("fake", script);
    vi.stubEnv("TEST_SECRET", "do not tell");
    const { bytes } = await make(fake, Buffer.from("sound;"), "audio/wav");
    expect(bytes.toString()).toBe("sound;0\n");
  });

  test("stays a BMP", async () => {
    const bmp = Readable.from([bmpOf(40, 30)]);
    expect(await open("/nowhere/ffmpeg").toJpeg(bmp, "image/bmp")).toBeUndefined();
  });

  test("is refused when its type has no reader", async () => {
    await expect(make("ffmpeg", tone(), "audio/midi")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("the waveform of Ogg Opus audio", () => {
  const note = oggOpus(Array.from({ length: 500 }, (_, n) => (n < 250 ? 20 : 200)));
  const measure = (ffmpeg: string) => open(ffmpeg).measureOggOpus(() => Readable.from([note]));

  test("is computed from the decoded sound where ffmpeg decodes it", async () => {
    // Two seconds that start loud: 16 bits at 8 kHz.
    const loud = `head -c 16000 /dev/zero | tr '\\000' '\\177'; head -c 16000 /dev/zero`;
    const { seconds, waveform = [] } = await measure(await fakeFfmpeg("decoder", loud));
    expect(seconds).toBe(10);
    expect([waveform.length, waveform[0], waveform.at(-1)]).toEqual([64, 100, 0]);
  });

  test("is computed from the sizes of its packets without ffmpeg, or where ffmpeg fails", async () => {
    for (const program of ["/nowhere/ffmpeg", await fakeFfmpeg("broken", "exit 1")]) {
      const { seconds, waveform = [] } = await measure(program);
      expect(seconds).toBe(10);
      expect([waveform.length, waveform[0], waveform.at(-1)]).toEqual([64, 10, 100]);
    }
  });
});

describe("the thumbnail of a video", () => {
  const video = () => Readable.from([Buffer.from("video")]);

  test("is the output of ffmpeg, if that is a JPEG", async () => {
    const jpeg = await fakeFfmpeg("jpeg", "printf '\\377\\330\\377small'");
    const picture = await open(jpeg).toThumbnail(video(), "video/mp4");
    expect(picture?.toString("latin1")).toBe("\u00ff\u00d8\u00ffsmall");
    const other = await fakeFfmpeg("other", "echo something else");
    expect(await open(other).toThumbnail(video(), "video/mp4")).toBeUndefined();
    const endless = await fakeFfmpeg("endless", "printf '\\377\\330'; cat /dev/zero");
    expect(await open(endless).toThumbnail(video(), "video/mp4")).toBeUndefined();
  });

  test("is cut by no limit: a video that becomes too large is not converted", async () => {
    const huge = await fakeFfmpeg("huge", 'for last; do :; done\nhead -c 67108864 /dev/zero > "$last"');
    expect(await open(huge).toMp4(video(), "video/webm")).toBe("failed");
  });

  test("is left out without ffmpeg, and no file is left behind", async () => {
    expect(await open("/nowhere/ffmpeg").toThumbnail(video(), "video/mp4")).toBeUndefined();
    expect(await open("/nowhere/ffmpeg").toGifVideo(video())).toBe("missing");
    expect(await open("/nowhere/ffmpeg").toMp4(video(), "video/webm")).toBe("missing");
    expect(await open("/nowhere/ffmpeg").toMp4(video(), "video/quicktime")).toBe("missing");
    expect(await open("/nowhere/ffmpeg").toM4a(video(), "audio/wav")).toBe("missing");
    expect((await readdir(dir.path)).filter((name) => /^[0-9a-f]{24}$/.test(name))).toEqual([]);
  });
});

test("the conversions of an account leave a place to another one, however many it has", async () => {
  const gate = join(dir.path, "gate");
  await promisify(execFile)("mkfifo", [gate]);
  const wait = `while [ "$1" != -i ]; do shift; done\n[ "$(cat "$2")" = slow ] && read -r _ < ${gate}`;
  const shared = share(await fakeFfmpeg("waiting", `${wait}\nprintf '\\377\\330\\377'`));
  const convert = (account_id: number, video: string) =>
    shared.forAccount(account_id).toThumbnail(Readable.from([Buffer.from(video)]), "video/mp4");
  const slow = Array.from({ length: 5 }, () => convert(1, "slow"));
  expect(await convert(2, "quick")).toBeDefined();
  const opened = await openFile(gate, "r+");
  await opened.write("\n".repeat(slow.length));
  expect((await Promise.all(slow)).every((picture) => picture !== undefined)).toBe(true);
  await opened.close();
});
