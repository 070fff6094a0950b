import type { WaveformMeter } from "./waveform-meter.ts";

/** Samples per level: 50 ms at 8 kHz. */
const BLOCK = 400;

/** Measures the loudness over time of 16-bit samples, little-endian and mono. */
export class PcmMeter {
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
