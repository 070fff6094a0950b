import { hash } from "node:crypto";

/** Counts and hashes rows independent of their order: the sum of each row's SHA-256. */
export class RowDigest {
  #rows = 0;
  readonly #sums = new Uint32Array(8);

  add(row: Buffer): void {
    const digest = hash("sha256", row, "buffer");
    for (let i = 0; i < 8; i++) this.#sums[i] = (this.#sums[i] ?? 0) + digest.readUInt32LE(i * 4);
    this.#rows += 1;
  }

  get rows(): number {
    return this.#rows;
  }

  hex(): string {
    return [...this.#sums].map((sum) => sum.toString(16).padStart(8, "0")).join("");
  }
}
