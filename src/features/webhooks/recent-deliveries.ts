/** Longest time from the statement of an event to the attempt: the bound if the notification of a change is lost. */
const KEPT_MS = 1_000;
const MOST_BYTES = 16 * 1024 * 1024;

interface KeptDelivery<Delivery> {
  delivery: Delivery;
  /** When its statement was sent, on the monotonic clock. */
  readAtMs: number;
  bytes: number;
}

/** Deliveries of events that this node has just recorded, by their number; each for one attempt within a second. */
export class RecentDeliveries<Delivery> {
  /** The oldest first. */
  readonly #kept = new Map<number, KeptDelivery<Delivery>>();
  #bytes = 0;
  #clearedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** Keeps nothing that was read before the last `clear`, and nothing beyond 16 MB in all. */
  keep(id: number, kept: KeptDelivery<Delivery>): void {
    if (kept.readAtMs <= this.#clearedAtMs || this.#bytes + kept.bytes > MOST_BYTES) return;
    this.#kept.set(id, kept);
    this.#bytes += kept.bytes;
    this.#deleteOldSoon();
  }

  /** Returns a delivery once. */
  take(id: number): Delivery | undefined {
    const kept = this.#kept.get(id);
    if (!kept) return undefined;
    this.#delete(id, kept);
    return isRecent(kept) ? kept.delivery : undefined;
  }

  /** Forgets all, also what is being read now. */
  clear(): void {
    this.#clearedAtMs = performance.now();
    this.#kept.clear();
    this.#bytes = 0;
  }

  #deleteOldSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#deleteOld();
      if (this.#kept.size > 0) this.#deleteOldSoon();
    }, KEPT_MS).unref();
  }

  #deleteOld(): void {
    for (const [id, kept] of this.#kept) {
      if (isRecent(kept)) return;
      this.#delete(id, kept);
    }
  }

  #delete(id: number, { bytes }: KeptDelivery<Delivery>): void {
    this.#kept.delete(id);
    this.#bytes -= bytes;
  }
}

function isRecent({ readAtMs }: { readAtMs: number }): boolean {
  return performance.now() - readAtMs < KEPT_MS;
}
