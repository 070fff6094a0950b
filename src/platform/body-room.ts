/** Bodies up to here are bounded by the number of requests. */
const SMALL_BYTES = 65_536;

interface Held {
  bytes: number;
  isAtWork: boolean;
}

/** Bounds the bytes of bodies that are in memory at once, by request; what is too much is refused and does not wait. */
export class BodyRoom {
  readonly #limit: number;
  readonly #held = new Map<object, Held>();
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

  /** Does the work that needs the body, which takes its room until then, also when its sender has gone. */
  async during<T>(request: object, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(request);
    if (!held) return work();
    held.isAtWork = true;
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

  #giveBack(request: object, { bytes }: Held): void {
    this.#held.delete(request);
    this.#total -= bytes;
  }
}
