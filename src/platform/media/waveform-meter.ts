const SAMPLES = 64;
const HIGHEST = 100;
const MAX_BINS = 4096;

/** Records loudness over time, in bounded memory for any duration. */
export class WaveformMeter {
  /** Sums of `#width` levels each. */
  #bins: number[] = [];
  #width = 1;
  #count = 0;

  add(level: number): void {
    const at = Math.floor(this.#count++ / this.#width);
    this.#bins[at] = (this.#bins[at] ?? 0) + level;
    if (this.#bins.length > MAX_BINS) this.#halve();
  }

  /** 64 levels from 0 to 100, as phones draw them; undefined if there is too little data. */
  waveform(): number[] | undefined {
    const bins = this.#bins;
    if (bins.length === 0) return undefined;
    const levels = Array.from({ length: SAMPLES }, (_, n) => {
      const from = Math.floor((n * bins.length) / SAMPLES);
      const to = Math.max(from + 1, Math.floor(((n + 1) * bins.length) / SAMPLES));
      const part = bins.slice(from, to);
      return part.reduce((sum, one) => sum + one, 0) / part.length;
    });
    const highest = Math.max(...levels);
    if (highest === 0 || Math.min(...levels) === highest) return undefined;
    return levels.map((level) => Math.round((level / highest) * HIGHEST));
  }

  #halve(): void {
    this.#bins = Array.from(
      { length: Math.ceil(this.#bins.length / 2) },
      (_, n) => (this.#bins[2 * n] ?? 0) + (this.#bins[2 * n + 1] ?? 0),
    );
    this.#width *= 2;
  }
}
