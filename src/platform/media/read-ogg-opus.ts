import { WaveformMeter } from "./waveform-meter.ts";

const PAGE_HEAD = 27;
const SAMPLES_PER_SECOND = 48_000;
const MAX_SECONDS = 24 * 60 * 60;
const [POSITION_AT, SEGMENTS_AT, PRE_SKIP_AT] = [6, 26, 10];
/** OpusHead and OpusTags precede the audio. */
const HEADER_PACKETS = 2;

export interface AudioMetadata {
  /** Whole seconds, at least one. */
  seconds: number;
  /** 64 levels from 0 to 100; absent if they cannot be determined. */
  waveform?: number[];
}

/**
 * Reads the duration and loudness of an Ogg Opus file without decoding it: louder and busier audio needs
 * larger packets. Reads each byte once and holds only page headers. Own code, since no reader tells the sizes of packets.
 */
export async function readOggOpus(pieces: AsyncIterable<Uint8Array>): Promise<AudioMetadata> {
  const reader = new OggReader();
  for await (const piece of pieces)
    reader.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  return reader.facts();
}

class OggReader {
  readonly #levels = new WaveformMeter();
  /** The rest of the last piece: the beginning of a page header. */
  #remainder: Buffer = Buffer.alloc(0);
  /** Remaining bytes of the current page's body. */
  #toSkip = 0;
  #packet = 0;
  #packets = 0;
  #preSkip = 0;
  #position = 0n;
  #isBroken = false;

  write(piece: Buffer): void {
    let bytes = this.#remainder.length === 0 ? piece : Buffer.concat([this.#remainder, piece]);
    while (!this.#isBroken) {
      const skipped = Math.min(this.#toSkip, bytes.length);
      this.#toSkip -= skipped;
      bytes = bytes.subarray(skipped);
      const length = headerLength(bytes);
      if (this.#toSkip > 0 || length === undefined || bytes.length < length) break;
      this.#readHeader(bytes.subarray(0, length));
      if (this.#packets === 1 && this.#preSkip === 0) this.#readPreSkip(bytes.subarray(length));
      bytes = bytes.subarray(length);
    }
    // Less than a page header, so the copy is small.
    this.#remainder = this.#isBroken ? Buffer.alloc(0) : Buffer.from(bytes);
  }

  facts(): AudioMetadata {
    const samples = Math.max(0, Number(this.#position) - this.#preSkip);
    const waveform = this.#levels.waveform();
    return {
      seconds: Math.min(MAX_SECONDS, Math.max(1, Math.round(samples / SAMPLES_PER_SECOND))),
      ...(waveform && { waveform }),
    };
  }

  #readHeader(header: Buffer): void {
    this.#isBroken = header.toString("latin1", 0, 4) !== "OggS";
    if (this.#isBroken) return;
    const position = header.readBigInt64LE(POSITION_AT);
    // -1: no packet ends on this page.
    if (position > this.#position) this.#position = position;
    for (const size of header.subarray(PAGE_HEAD)) {
      this.#toSkip += size;
      this.#packet += size;
      if (size < 255) this.#endPacket();
    }
  }

  #endPacket(): void {
    if (++this.#packets > HEADER_PACKETS) this.#levels.add(this.#packet);
    this.#packet = 0;
  }

  #readPreSkip(body: Buffer): void {
    if (body.length >= PRE_SKIP_AT + 2 && body.toString("latin1", 0, 8) === "OpusHead")
      this.#preSkip = body.readUInt16LE(PRE_SKIP_AT);
  }
}

/** Length of the header of the page that begins here; undefined if there is too little data. */
function headerLength(bytes: Buffer): number | undefined {
  return bytes.length < PAGE_HEAD ? undefined : PAGE_HEAD + bytes.readUInt8(SEGMENTS_AT);
}
