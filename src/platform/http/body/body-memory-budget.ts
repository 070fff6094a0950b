import { Semaphore, type Slot } from "../../limits/semaphore.ts";

/** Bodies up to this size are bounded by the number of requests. */
const SMALL_BYTES = 65_536;

interface ReservedMemory {
  slot?: Slot | undefined;
  isAtWork: boolean;
}

/** Limits the bytes of bodies and fetched files in memory, per request; rejects any excess at once. */
export class BodyMemoryBudget {
  readonly #memory: Semaphore;
  readonly #reserved = new Map<object, ReservedMemory>();

  constructor(limit: number) {
    this.#memory = new Semaphore({ limit });
  }

  /** Whether a body of this size is admitted. A single request always is; a rejected one reserves nothing. */
  reserve(request: object, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    this.release(request);
    const slot = this.#memory.tryAcquire({ weight: bytes });
    if (slot) this.#reserved.set(request, { slot, isAtWork: false });
    return slot !== undefined;
  }

  /** Adds memory that a running request holds beside its body; returns whether the budget allows it. */
  reserveMore(request: object, bytes: number): boolean {
    const reserved = this.#reserved.get(request);
    if (!reserved?.isAtWork) throw new Error("Only a request at work can hold memory.");
    if (reserved.slot) return reserved.slot.tryGrow(bytes);
    reserved.slot = this.#memory.tryAcquire({ weight: bytes });
    return reserved.slot !== undefined;
  }

  /** Runs the work of a request and holds its memory until the work ends, even if the client disconnects. */
  async runReserved<T>(request: object, work: () => Promise<T>): Promise<T> {
    const reserved = this.#reserved.get(request) ?? { isAtWork: true };
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

  #free(request: object, { slot }: ReservedMemory): void {
    this.#reserved.delete(request);
    slot?.release();
  }
}
