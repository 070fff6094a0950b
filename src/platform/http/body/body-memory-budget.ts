/** Bodies up to here are bounded by the number of requests. */
const SMALL_BYTES = 65_536;

interface ReservedMemory {
  bytes: number;
  isAtWork: boolean;
}

/** Bounds the bytes of bodies and fetched files in memory at once, by request; what is too much is refused at once. */
export class BodyMemoryBudget {
  readonly #limit: number;
  readonly #held = new Map<object, ReservedMemory>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the body of this request may be so large; one that is alone always may, and a refused one takes nothing. */
  take(request: object, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    const others = this.#total - (this.#held.get(request)?.bytes ?? 0);
    if (others > 0 && others + bytes > this.#limit) {
      this.end(request);
      return false;
    }
    this.#held.set(request, { bytes, isAtWork: false });
    this.#total = others + bytes;
    return true;
  }

  /** Adds what a request at work keeps in memory beside its body; whether there is room for it. */
  add(request: object, bytes: number): boolean {
    const held = this.#held.get(request);
    if (!held?.isAtWork) throw new Error("Only a request at work can hold memory.");
    const others = this.#total - held.bytes;
    if (others > 0 && this.#total + bytes > this.#limit) return false;
    held.bytes += bytes;
    this.#total += bytes;
    return true;
  }

  /** Does the work of a request, which keeps its room until then, also when its sender has gone. */
  async during<T>(request: object, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(request) ?? { bytes: 0, isAtWork: true };
    held.isAtWork = true;
    this.#held.set(request, held);
    try {
      return await work();
    } finally {
      this.#giveBack(request, held);
    }
  }

  /** The request is answered or its sender has gone. */
  end(request: object): void {
    const held = this.#held.get(request);
    if (held && !held.isAtWork) this.#giveBack(request, held);
  }

  #giveBack(request: object, { bytes }: ReservedMemory): void {
    this.#held.delete(request);
    this.#total -= bytes;
  }
}
