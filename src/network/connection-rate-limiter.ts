import { Semaphore } from "../platform/limits/semaphore.ts";
import { createTokenBuckets } from "../platform/limits/token-bucket.ts";

export interface ConnectionRateLimiterOptions {
  maxConcurrent: number;
  jitterMs: number;
  /** Delay of the first login, so that more urgent ones can arrive. */
  collectMs: number;
  /** Maximum number of starts per second, however fast they open; no limit if absent. */
  perSecond?: number;
}

/**
 * Limits how many connections open at the same time and spaces their starts; the most recently used go first.
 * It applies to logins after a start and after a lost connection, to prevent login storms.
 */
export class ConnectionRateLimiter {
  readonly #options: ConnectionRateLimiterOptions;
  readonly #slots: Semaphore;
  readonly #turn = new Semaphore({ limit: 1 });
  readonly #starts = createTokenBuckets({ maxKeys: 1 });

  constructor(options: ConnectionRateLimiterOptions) {
    this.#options = options;
    this.#slots = new Semaphore({ limit: options.maxConcurrent });
  }

  /**
   * Resolves when the connection may start, with a function that releases the slot; its second call does
   * nothing.
   */
  async acquire(activeAt: Date | undefined): Promise<() => void> {
    const { maxConcurrent, jitterMs, collectMs, perSecond } = this.#options;
    // Only an idle limiter has all its slots free; taking them makes the first connections wait for each other.
    const collecting = this.#slots.tryAcquire({ weight: maxConcurrent });
    if (collecting) setTimeout(collecting.release, collectMs);
    const priority = activeAt?.getTime() ?? 0;
    const { release } = await this.#slots.acquire({ priority });
    if (jitterMs > 0 && this.#slots.used > 1) await pause(Math.random() * jitterMs);
    if (perSecond !== undefined) await this.#turn.use(() => this.#waitForStart(perSecond), { priority });
    return release;
  }

  async #waitForStart(perSecond: number): Promise<void> {
    const claim = { key: "", perMinute: perSecond * 60, burst: 1 };
    for (;;) {
      const { waitMs } = this.#starts.consume(claim);
      if (waitMs === 0) return;
      await pause(waitMs);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
