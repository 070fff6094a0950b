import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const PICTURE_INPUT = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=1"];
const SOUND_INPUT = ["-f", "lavfi", "-i", "sine=frequency=440:duration=1"];

/** A one-second test video with sound, 64 x 48 pixels, encoded by ffmpeg. */
export function sampleVideo(args: readonly string[]): Promise<Buffer> {
  return encode([...PICTURE_INPUT, ...SOUND_INPUT, ...args]);
}

/** A one-second tone in the default encoding of an ffmpeg format. */
export function sampleSound(format: string, args: readonly string[] = []): Promise<Buffer> {
  return encode([...SOUND_INPUT, ...args, "-f", format]);
}

async function encode(args: readonly string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "sample-"));
  try {
    const path = join(folder, "file");
    await promisify(execFile)("ffmpeg", ["-loglevel", "error", ...args, path]);
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}
