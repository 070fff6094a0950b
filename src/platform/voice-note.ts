import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { GatewayError, invalidField } from "./errors.ts";
import { ScratchFile } from "./scratch-file.ts";
import { Semaphore } from "./semaphore.ts";

export const VOICE_NOTE_TYPE = "audio/ogg; codecs=opus";

export interface VoiceNote {
  bytes: Buffer;
  /** Whole seconds, at least one. */
  seconds: number;
}

export interface VoiceNoteMaker {
  /** Ogg Opus, mono, of audio in any form. Throws NOT_SUPPORTED where ffmpeg is absent, VALIDATION_ERROR for no audio. */
  make(audio: AsyncIterable<Uint8Array>, mimeType: string): Promise<VoiceNote>;
}

export interface VoiceNoteOptions {
  /** The program, by name or path. */
  ffmpeg: string;
  scratchDir: string;
}

const AT_ONCE = 2;
const LONGEST_MS = 60_000;
const CPU_SECONDS = 60;
const MEMORY_KIB = 2 * 1024 * 1024;
const OUTPUT_BYTES = 16 * 1024 * 1024;
const [NOT_RUNNABLE, NOT_FOUND] = [126, 127];

/** The readers of ffmpeg by what a file is: none of them opens another file, as playlists would. */
const READERS: readonly [RegExp, string][] = [
  [/^audio\/(mpeg|mp3)/, "mp3"],
  [/ogg|opus/, "ogg"],
  [/mp4|m4a|quicktime|3gpp/, "mov"],
  [/wav|wave/, "wav"],
  [/webm|matroska/, "matroska"],
  [/flac/, "flac"],
  [/aac/, "aac"],
  [/amr/, "amr"],
  [/aiff/, "aiff"],
];

export function createVoiceNoteMaker({ ffmpeg, scratchDir }: VoiceNoteOptions): VoiceNoteMaker {
  const room = new Semaphore(AT_ONCE);
  return {
    make: (audio, mimeType) =>
      room.use(1, async () => {
        const reader = READERS.find(([type]) => type.test(mimeType))?.[1];
        if (!reader) throw invalidField("type", `${mimeType} cannot be made into a voice note`);
        const source = await ScratchFile.begin(scratchDir);
        try {
          for await (const piece of audio) await source.write(piece);
          await source.end({ isDurable: false });
          const bytes = await convert(ffmpeg, reader, source.path);
          return { bytes, seconds: secondsOf(bytes) };
        } finally {
          await source.drop();
        }
      }),
  };
}

async function convert(ffmpeg: string, reader: string, path: string): Promise<Buffer> {
  const child = start(ffmpeg, [
    ...["-hide_banner", "-loglevel", "error", "-nostdin", "-protocol_whitelist", "file,pipe"],
    ...["-threads", "1", "-f", reader, "-i", path, "-map", "0:a:0", "-map_metadata", "-1"],
    ...["-ac", "1", "-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-application", "voip"],
    ...["-threads", "1", "-fs", String(OUTPUT_BYTES), "-f", "ogg", "pipe:1"],
  ]);
  const tooLong = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  try {
    const [bytes, [code]] = await Promise.all([readOutput(child), once(child, "close")]);
    if (code === NOT_FOUND || code === NOT_RUNNABLE) throw notSupported();
    if (code !== 0 || bytes.length === 0)
      throw invalidField("file", "is no audio that can be made into a voice note");
    return bytes;
  } finally {
    clearTimeout(tooLong);
  }
}

/** A process of its own, with bounds, and with nothing of our environment, which holds secrets. */
function start(ffmpeg: string, args: string[]): ChildProcess {
  const bounded = `ulimit -t ${CPU_SECONDS}; ulimit -v ${MEMORY_KIB} 2>/dev/null; exec "$0" "$@"`;
  const child = spawn("/bin/sh", ["-c", bounded, ffmpeg, ...args], {
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Without a shell there is no ffmpeg either: it ends with no output.
  child.on("error", () => {});
  return child;
}

async function readOutput(child: ChildProcess): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of (child.stdout ?? []) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > 2 * OUTPUT_BYTES) child.kill("SIGKILL");
    else pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function notSupported(): GatewayError {
  return new GatewayError(
    "NOT_SUPPORTED",
    "This audio cannot go as a voice note: ffmpeg, which would convert it, is not installed here (WAYGATE_FFMPEG). Send Ogg Opus, or send it as audio.",
  );
}

const SAMPLES_PER_SECOND = 48_000;
const POSITION_AT = 6;

/** How long an Ogg Opus file plays, by the position in its last page: of the whole file, or of its end. */
export function secondsOf(end: Buffer): number {
  const page = end.lastIndexOf("OggS");
  if (page < 0 || page + POSITION_AT + 8 > end.length) return 1;
  const samples = Number(end.readBigInt64LE(page + POSITION_AT));
  return Math.max(1, Math.round(samples / SAMPLES_PER_SECOND));
}
