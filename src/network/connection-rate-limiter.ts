import { setTimeout as pause } from "node:timers/promises";

export interface ConnectionRateLimiterOptions {
  maxConcurrent: number;
  jitterMs: number;
  /** Delay of the first login, so that more urgent ones can arrive. */
  collectMs: number;
  /** Maximum number of starts per second, however fast they open; no limit if absent. */
  perSecond?: number;
}

interface QueuedConnection {
  activeAt: number;
  begin(): void;
}

/**
 * Limits how many connections open at the same time and spaces their starts; the most recently used go first.
 * It applies to logins after a start and after a lost connection, to prevent login storms.
 */
export class ConnectionRateLimiter {
  readonly #options: ConnectionRateLimiterOptions;
  readonly #intervalMs: number;
  readonly #waiting: QueuedConnection[] = [];
  #open = 0;
  #gathering: NodeJS.Timeout | undefined;
  #nextAt = Number.NEGATIVE_INFINITY;
  #ringing: NodeJS.Timeout | undefined;

  constructor(options: ConnectionRateLimiterOptions) {
    this.#options = options;
    this.#intervalMs = options.perSecond === undefined ? 0 : 1_000 / options.perSecond;
  }

  /**
   * Resolves when the connection may start, with a function that releases the slot; its second call does
   * nothing.
   */
  async acquire(activeAt: Date | undefined): Promise<() => void> {
    const { collectMs } = this.#options;
    await new Promise<void>((begin) => {
      this.#waiting.push({ activeAt: activeAt?.getTime() ?? 0, begin });
      if (this.#open === 0) this.#gathering ??= setTimeout(() => this.#gathered(), collectMs);
      else this.#admit();
    });
    let isInside = true;
    return () => {
      if (isInside) this.#open--;
      isInside = false;
      this.#admit();
    };
  }

  #gathered(): void {
    this.#gathering = undefined;
    this.#admit();
  }

  #admit(): void {
    const { maxConcurrent, jitterMs } = this.#options;
    while (!this.#gathering && this.#open < maxConcurrent && this.#waiting.length > 0) {
      if (!this.#isTime()) return;
      const isCrowded = ++this.#open > 1;
      const { begin } = takeNewest(this.#waiting);
      if (isCrowded) void pause(Math.random() * jitterMs).then(begin);
      else begin();
    }
  }

  /** Reserves the next start time if it has come, or sets a timer for it. */
  #isTime(): boolean {
    const now = performance.now();
    if (now >= this.#nextAt) {
      this.#nextAt = now + this.#intervalMs;
      return true;
    }
    this.#ringing ??= setTimeout(() => {
      this.#ringing = undefined;
      this.#admit();
    }, this.#nextAt - now);
    return false;
  }
}

function takeNewest(waiting: QueuedConnection[]): QueuedConnection {
  const newest = waiting.reduce((best, one) => (one.activeAt > best.activeAt ? one : best));
  waiting.splice(waiting.indexOf(newest), 1);
  return newest;
}
