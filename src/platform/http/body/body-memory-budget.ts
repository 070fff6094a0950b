/** Bodies up to this size are bounded by the number of requests. */
const SMALL_BYTES = 65_536;

interface ReservedMemory {
  bytes: number;
  isAtWork: boolean;
}

/** Limits the bytes of bodies and fetched files in memory, per request; rejects any excess at once. */
export class BodyMemoryBudget {
  readonly #limit: number;
  readonly #held = new Map<object, ReservedMemory>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a body of this size is admitted. A single request always is; a rejected one reserves nothing. */
  reserve(request: object, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    const others = this.#total - (this.#held.get(request)?.bytes ?? 0);
    if (others > 0 && others + bytes > this.#limit) {
      this.release(request);
      return false;
    }
    this.#held.set(request, { bytes, isAtWork: false });
    this.#total = others + bytes;
    return true;
  }

  /** Adds memory that a running request holds beside its body; returns whether the budget allows it. */
  reserveMore(request: object, bytes: number): boolean {
    const held = this.#held.get(request);
    if (!held?.isAtWork) throw new Error("Only a request at work can hold memory.");
    const others = this.#total - held.bytes;
    if (others > 0 && this.#total + bytes > this.#limit) return false;
    held.bytes += bytes;
    this.#total += bytes;
    return true;
  }

  /** Runs the work of a request and holds its memory until the work ends, even if the client disconnects. */
  async runHolding<T>(request: object, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(request) ?? { bytes: 0, isAtWork: true };
    held.isAtWork = true;
    this.#held.set(request, held);
    try {
      return await work();
    } finally {
      this.#giveBack(request, held);
    }
  }

  /** The request was answered or the client has disconnected. */
  release(request: object): void {
    const held = this.#held.get(request);
    if (held && !held.isAtWork) this.#giveBack(request, held);
  }

  #giveBack(request: object, { bytes }: ReservedMemory): void {
    this.#held.delete(request);
    this.#total -= bytes;
  }
}
