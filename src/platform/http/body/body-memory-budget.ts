/** Bodies up to this size are bounded by the number of requests. */
const SMALL_BYTES = 65_536;

interface ReservedMemory {
  bytes: number;
  isAtWork: boolean;
}

/** Limits the bytes of bodies and fetched files in memory, per request; rejects any excess at once. */
export class BodyMemoryBudget {
  readonly #limit: number;
  readonly #reserved = new Map<object, ReservedMemory>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a body of this size is admitted. A single request always is; a rejected one reserves nothing. */
  reserve(request: object, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    const others = this.#total - (this.#reserved.get(request)?.bytes ?? 0);
    if (others > 0 && others + bytes > this.#limit) {
      this.release(request);
      return false;
    }
    this.#reserved.set(request, { bytes, isAtWork: false });
    this.#total = others + bytes;
    return true;
  }

  /** Adds memory that a running request holds beside its body; returns whether the budget allows it. */
  reserveMore(request: object, bytes: number): boolean {
    const reserved = this.#reserved.get(request);
    if (!reserved?.isAtWork) throw new Error("Only a request at work can hold memory.");
    const others = this.#total - reserved.bytes;
    if (others > 0 && this.#total + bytes > this.#limit) return false;
    reserved.bytes += bytes;
    this.#total += bytes;
    return true;
  }

  /** Runs the work of a request and holds its memory until the work ends, even if the client disconnects. */
  async runReserved<T>(request: object, work: () => Promise<T>): Promise<T> {
    const reserved = this.#reserved.get(request) ?? { bytes: 0, isAtWork: true };
    reserved.isAtWork = true;
    this.#reserved.set(request, reserved);
    try {
      return await work();
    } finally {
      this.#free(request, reserved);
    }
  }

  /** The request was answered or the client has disconnected. */
  release(request: object): void {
    const reserved = this.#reserved.get(request);
    if (reserved && !reserved.isAtWork) this.#free(request, reserved);
  }

  #free(request: object, { bytes }: ReservedMemory): void {
    this.#reserved.delete(request);
    this.#total -= bytes;
  }
}
