import { readFile } from "node:fs/promises";
import { GatewayError, invalidField } from "../gateway-error.ts";
import { Semaphore } from "../limits/semaphore.ts";
import { type AudioMetadata, readOggOpus } from "./read-ogg-opus.ts";
import { type FfmpegResult, findDemuxer, runFfmpeg } from "./run-ffmpeg.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { WaveformMeter } from "./waveform-meter.ts";

export const OGG_OPUS_TYPE = "audio/ogg; codecs=opus";

type Bytes = AsyncIterable<Uint8Array>;

export interface OggOpusAudio extends AudioMetadata {
  bytes: Buffer;
}

/** Converts files to the formats that phones expect. Without ffmpeg, optional conversions are skipped. */
export interface MediaConverter {
  /**
   * Converts audio to mono Ogg Opus. Throws NOT_SUPPORTED without ffmpeg, VALIDATION_ERROR that names `field` if it is no
   * audio.
   */
  toOggOpus(audio: Bytes, mimeType: string, field: string): Promise<OggOpusAudio>;
  /** Duration of Ogg Opus audio, and its loudness over time. */
  measureOggOpus(open: () => Bytes): Promise<AudioMetadata>;
  /** A small JPEG of the first frame. */
  toThumbnail(video: Bytes, mimeType: string): Promise<Buffer | undefined>;
  /** The picture as JPEG; undefined for a type that the image library reads itself, or that ffmpeg cannot read. */
  toJpeg(picture: Bytes, mimeType: string): Promise<Buffer | undefined>;
  /** An animated GIF as MP4, which phones play instead. */
  toGifVideo(gif: Bytes): Promise<Conversion>;
  /** A video as MP4 of H.264 and AAC. That of a QuickTime file is kept if an MP4 can hold it. */
  toMp4(video: Bytes, mimeType: string): Promise<Conversion>;
  /** The Opus audio of a WebM or Matroska file in Ogg, unchanged; `failed` for any other. */
  toOgg(audio: Bytes, mimeType: string): Promise<Conversion>;
  /** Audio as AAC in an MP4. */
  toM4a(audio: Bytes, mimeType: string): Promise<Conversion>;
}

/** The converted file; or `missing`, without ffmpeg; or `failed`, if it cannot be read or becomes too large. */
export type Conversion = Buffer | "missing" | "failed";

/** The converter of all accounts, which take turns. */
export interface SharedMediaConverter {
  forAccount(account_id: number): MediaConverter;
}

export interface MediaConverterOptions {
  /** The program's name or path. */
  ffmpeg: string;
  scratchDir: string;
}

const AT_ONCE = 3;
/** So another account need not wait for the end of a conversion. */
const AT_ONCE_PER_ACCOUNT = 2;
const OUTPUT_BYTES = 16 * 1024 * 1024;
/** 24 hours at 8 kHz and 16 bits. */
const SOUND_BYTES = 24 * 3600 * 16_000;
const THUMBNAIL_BYTES = 16 * 1024;
const THUMBNAIL = ["-q:v", "8", "-vf", "scale=w=72:h=72:force_original_aspect_ratio=decrease"];
/** All colours of a picture are in the range of JPEG. */
const WHOLE_PICTURE = ["-q:v", "2", "-pix_fmt", "yuvj444p"];
const BMP_TYPE = "image/bmp";
const GIF_SIDE = 640;
const VIDEO_SIDE = 1280;
/** The first page of Ogg Opus contains only this header. */
const OPUS_HEAD_WITHIN = 64;
const VIDEO_BYTES = 64 * 1024 * 1024;

export function createMediaConverter(options: MediaConverterOptions): SharedMediaConverter {
  const slots = new Semaphore({ limit: AT_ONCE, limitPerKey: AT_ONCE_PER_ACCOUNT });
  return { forAccount: (key) => new Converter(options, (work) => slots.use(work, { key })) };
}

type RunInTurn = <T>(work: () => Promise<T>) => Promise<T>;

class Converter implements MediaConverter {
  readonly #ffmpeg: string;
  readonly #scratchDir: string;
  readonly #inTurn: RunInTurn;

  constructor({ ffmpeg, scratchDir }: MediaConverterOptions, inTurn: RunInTurn) {
    this.#ffmpeg = ffmpeg;
    this.#scratchDir = scratchDir;
    this.#inTurn = inTurn;
  }

  async toOggOpus(audio: Bytes, mimeType: string, field: string): Promise<OggOpusAudio> {
    const reader = findDemuxer(mimeType);
    if (!reader)
      throw invalidField("type", `${mimeType} cannot be converted to Ogg Opus`, "wrong_file_type", {
        expected: "audio",
        found: mimeType,
      });
    const { end, output } = await this.#onFile(audio, (path) =>
      this.#read(2 * OUTPUT_BYTES, opusArgs(reader, path)),
    );
    if (end === "missing") throw notSupported();
    if (end === "failed" || output.length === 0)
      throw invalidField(field, "is not an audio file that can be converted to Ogg Opus", "unreadable_file");
    return { bytes: output, ...(await this.measureOggOpus(() => oneOf(output))) };
  }

  async measureOggOpus(open: () => Bytes): Promise<AudioMetadata> {
    const facts = await readOggOpus(open());
    const meter = new PcmMeter(new WaveformMeter());
    const end = await this.#onFile(open(), (path) => {
      const input = ["-f", "ogg", "-i", path, "-map", "0:a:0"];
      const args = [...input, "-ac", "1", "-ar", "8000", "-f", "s16le", "pipe:1"];
      return this.#run(args, SOUND_BYTES, (piece) => meter.write(piece));
    });
    const waveform = end === "done" ? meter.waveform() : undefined;
    return waveform ? { ...facts, waveform } : facts;
  }

  toThumbnail(video: Bytes, mimeType: string): Promise<Buffer | undefined> {
    return this.#toFrame(video, findDemuxer(mimeType), THUMBNAIL_BYTES, THUMBNAIL);
  }

  async toJpeg(picture: Bytes, mimeType: string): Promise<Buffer | undefined> {
    return mimeType === BMP_TYPE
      ? this.#toFrame(picture, findDemuxer(mimeType), OUTPUT_BYTES, WHOLE_PICTURE)
      : undefined;
  }

  /** The first frame as JPEG. */
  async #toFrame(
    file: Bytes,
    reader: string | undefined,
    maxBytes: number,
    encoding: readonly string[],
  ): Promise<Buffer | undefined> {
    if (!reader) return undefined;
    const { end, output } = await this.#onFile(file, (path) =>
      this.#read(maxBytes, frameArgs(reader, path, encoding)),
    );
    const isJpeg = output.length > 2 && output.readUInt16BE(0) === 0xffd8;
    return end === "done" && isJpeg ? output : undefined;
  }

  toGifVideo(gif: Bytes): Promise<Conversion> {
    return this.#onFile(gif, (path) => this.#toFile(gifArgs(path)));
  }

  async toMp4(video: Bytes, mimeType: string): Promise<Conversion> {
    const reader = findDemuxer(mimeType);
    if (!reader) return "failed";
    return this.#onFile(video, async (path) => {
      const kept = reader === "mov" ? await this.#toFile(mp4Args(reader, path, KEPT_VIDEO)) : "failed";
      return kept === "failed" ? this.#toFile(mp4Args(reader, path, NEW_VIDEO)) : kept;
    });
  }

  async toOgg(audio: Bytes, mimeType: string): Promise<Conversion> {
    const reader = findDemuxer(mimeType);
    if (reader !== "matroska") return "failed";
    const ogg = await this.#onFile(audio, (path) => this.#toFile(oggArgs(reader, path)));
    // It may be Vorbis, which phones do not play.
    return typeof ogg === "string" || ogg.subarray(0, OPUS_HEAD_WITHIN).includes("OpusHead") ? ogg : "failed";
  }

  async toM4a(audio: Bytes, mimeType: string): Promise<Conversion> {
    const reader = findDemuxer(mimeType);
    return reader ? this.#onFile(audio, (path) => this.#toFile(m4aArgs(reader, path))) : "failed";
  }

  /** Runs ffmpeg with an output that is no pipe, because the head of an MP4 is written last. */
  async #toFile(args: readonly string[]): Promise<Conversion> {
    const target = await TemporaryFile.begin(this.#scratchDir);
    try {
      await target.end({ isDurable: false });
      const end = await this.#run([...args, "-y", target.path], 0);
      if (end !== "done") return end;
      const bytes = await readFile(target.path);
      // ffmpeg ends a file that becomes too large, without an error.
      return bytes.length > 0 && bytes.length < VIDEO_BYTES ? bytes : "failed";
    } finally {
      await target.discard();
    }
  }

  async #read(maxBytes: number, args: string[]): Promise<{ end: FfmpegResult; output: Buffer }> {
    const pieces: Buffer[] = [];
    const end = await this.#run(args, maxBytes, (piece) => pieces.push(piece));
    return { end, output: Buffer.concat(pieces) };
  }

  #run(args: string[], maxBytes: number, onOutput?: (piece: Buffer) => void): Promise<FfmpegResult> {
    return runFfmpeg({ program: this.#ffmpeg, args, maxBytes, ...(onOutput && { onOutput }) });
  }

  /** ffmpeg reads from a file, because many formats cannot be read from a pipe. */
  #onFile<T>(bytes: Bytes, use: (path: string) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const source = await TemporaryFile.begin(this.#scratchDir);
      try {
        for await (const piece of bytes) await source.write(piece);
        await source.end({ isDurable: false });
        return await use(source.path);
      } finally {
        await source.discard();
      }
    });
  }
}

async function* oneOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function opusArgs(reader: string, path: string): string[] {
  const input = ["-f", reader, "-i", path, "-map", "0:a:0", "-map_metadata", "-1"];
  const encoding = ["-ac", "1", "-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-application", "voip"];
  const output = ["-threads", "1", "-fs", String(OUTPUT_BYTES), "-f", "ogg", "pipe:1"];
  return [...input, ...encoding, ...output];
}

function frameArgs(reader: string, path: string, encoding: readonly string[]): string[] {
  const input = ["-f", reader, "-i", path, "-map", "0:v:0", "-frames:v", "1", "-map_metadata", "-1"];
  return [...input, "-threads", "1", "-c:v", "mjpeg", ...encoding, "-f", "image2pipe", "pipe:1"];
}

/** H.264 requires an even width and height. */
const EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p";
const H264 = ["-c:v", "libx264", "-preset", "veryfast", "-threads", "1"];
const AAC = ["-c:a", "aac", "-b:a", "128k", "-ac", "2"];
const OUTPUT = ["-map_metadata", "-1", "-movflags", "+faststart", "-fs", String(VIDEO_BYTES)];

const within = (side: number) =>
  `scale=w='min(${side},iw)':h='min(${side},ih)':force_original_aspect_ratio=decrease,${EVEN}`;
const KEPT_VIDEO = ["-c:v", "copy"];
const NEW_VIDEO = ["-vf", within(VIDEO_SIDE), ...H264];

function gifArgs(path: string): string[] {
  const input = ["-f", "gif", "-i", path, "-map", "0:v:0", "-t", "60", "-vf", within(GIF_SIDE)];
  return [...input, ...H264, ...OUTPUT, "-f", "mp4"];
}

function mp4Args(reader: string, path: string, video: readonly string[]): string[] {
  const input = ["-f", reader, "-i", path, "-map", "0:v:0", "-map", "0:a:0?"];
  return [...input, ...video, ...AAC, ...OUTPUT, "-f", "mp4"];
}

function oggArgs(reader: string, path: string): string[] {
  return ["-f", reader, "-i", path, "-map", "0:a:0", "-map_metadata", "-1", "-c:a", "copy", "-f", "ogg"];
}

function m4aArgs(reader: string, path: string): string[] {
  return ["-f", reader, "-i", path, "-map", "0:a:0", ...AAC, ...OUTPUT, "-f", "ipod"];
}

function notSupported(): GatewayError {
  return new GatewayError(
    "NOT_SUPPORTED",
    "This audio cannot be converted to Ogg Opus, because ffmpeg is not installed (WAYGATE_FFMPEG). Send Ogg Opus, or send it as plain audio.",
  );
}

/** Samples per level: 50 ms at 8 kHz. */
const BLOCK = 400;

/** Measures the loudness over time of 16-bit samples, little-endian and mono. */
class PcmMeter {
  readonly #levels: WaveformMeter;
  #sum = 0;
  #samples = 0;
  /** The first byte of a sample whose second byte is in the next piece. */
  #half: Buffer = Buffer.alloc(0);

  constructor(levels: WaveformMeter) {
    this.#levels = levels;
  }

  write(piece: Buffer): void {
    const bytes = this.#half.length === 0 ? piece : Buffer.concat([this.#half, piece]);
    const whole = bytes.length - (bytes.length % 2);
    for (let at = 0; at < whole; at += 2) {
      this.#sum += Math.abs(bytes.readInt16LE(at));
      if (++this.#samples === BLOCK) this.#endBlock();
    }
    this.#half = Buffer.from(bytes.subarray(whole));
  }

  waveform(): number[] | undefined {
    return this.#levels.waveform();
  }

  #endBlock(): void {
    this.#levels.add(this.#sum / BLOCK);
    this.#sum = 0;
    this.#samples = 0;
  }
}
