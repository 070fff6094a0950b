import { spawnSync } from "node:child_process";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileTypeFromBuffer } from "file-type";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeScratchDir, type ScratchDir } from "../../test/scratch-dir.ts";
import { createVoiceNoteMaker, secondsOf } from "./voice-note.ts";

const hasFfmpeg = spawnSync("ffmpeg", ["-version"]).status === 0;

let dir: ScratchDir;
beforeAll(async () => {
  dir = await makeScratchDir();
});
afterAll(() => dir.remove());

const make = (ffmpeg: string, bytes: Buffer, type: string) =>
  createVoiceNoteMaker({ ffmpeg, scratchDir: dir.path }).make(Readable.from([bytes]), type);

/** Two seconds of a tone, 8 kHz, 16 bits, mono. */
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

describe.skipIf(!hasFfmpeg)("with ffmpeg", () => {
  test("audio becomes Ogg Opus that says how long it is", async () => {
    const { bytes, seconds } = await make("ffmpeg", tone(), "audio/wav");
    expect((await fileTypeFromBuffer(bytes))?.mime).toBe("audio/ogg; codecs=opus");
    expect(seconds).toBe(2);
  });

  test("what is no audio is refused", async () => {
    const refusal = { code: "VALIDATION_ERROR", message: expect.stringContaining("no audio") };
    await expect(make("ffmpeg", Buffer.from("RIFFnothing"), "audio/wav")).rejects.toMatchObject(refusal);
  });

  test("a playlist that calls itself audio opens no other file", async () => {
    const secret = join(dir.path, "secret.wav");
    await writeFile(secret, tone());
    const playlist = Buffer.from(`ID3\x04\0\0\0\0\0\0#EXTM3U\n#EXTINF:2,\nfile://${secret}\n`, "latin1");
    await expect(make("ffmpeg", playlist, "audio/mpeg")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("without ffmpeg", () => {
  test("audio that is not Ogg Opus cannot go as a voice note, and the refusal says why", async () => {
    const refusal = { code: "NOT_SUPPORTED", message: expect.stringContaining("ffmpeg") };
    await expect(make("/nowhere/ffmpeg", tone(), "audio/wav")).rejects.toMatchObject(refusal);
    expect((await readdir(dir.path)).filter((name) => name !== "secret.wav")).toEqual([]);
  });

  test("the program gets nothing of our environment and a file to read, and its output is what goes out", async () => {
    const fake = join(dir.path, "fake");
    await writeFile(
      fake,
      '#!/bin/sh\nfor last; do case "$last" in /*) cat "$last";; esac; done\nenv | grep -c TEST\n:',
    );
    await chmod(fake, 0o755);
    process.env.TEST_SECRET = "do not tell";
    const { bytes } = await make(fake, Buffer.from("sound;"), "audio/wav");
    expect(bytes.toString()).toBe("sound;0\n");
  });

  test("a type that nobody reads is refused", async () => {
    await expect(make("ffmpeg", tone(), "audio/midi")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

test("the length of Ogg Opus is read from its last page, and is a second at least", () => {
  const page = (samples: bigint) => {
    const bytes = Buffer.alloc(20);
    bytes.write("OggS");
    bytes.writeBigInt64LE(samples, 6);
    return bytes;
  };
  expect(secondsOf(Buffer.concat([page(1n), page(48_000n * 61n)]))).toBe(61);
  expect(secondsOf(page(10n))).toBe(1);
  expect(secondsOf(Buffer.from("nothing"))).toBe(1);
});
