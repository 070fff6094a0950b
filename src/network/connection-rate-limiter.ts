import { setTimeout as pause } from "node:timers/promises";

export interface ConnectionRateLimiterOptions {
  atOnce: number;
  jitterMs: number;
  /** The first one waits so long for others that may be more urgent. */
  gatherMs: number;
  /** So many begin in a second at most, however soon they have opened; no limit when absent. */
  perSecond?: number;
}

interface QueuedConnection {
  activeAt: number;
  begin(): void;
}

/**
 * Lets a few connections open at the same time, each a little later than the one before, the last used ones first. For
 * logins after a start and after a lost connection alike, so that neither becomes a storm.
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

  /** Resolves when it may begin, with what is to be called when it has ended; the second call does nothing. */
  async enter(activeAt: Date | undefined): Promise<() => void> {
    const { gatherMs } = this.#options;
    await new Promise<void>((begin) => {
      this.#waiting.push({ activeAt: activeAt?.getTime() ?? 0, begin });
      if (this.#open === 0) this.#gathering ??= setTimeout(() => this.#gathered(), gatherMs);
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
    const { atOnce, jitterMs } = this.#options;
    while (!this.#gathering && this.#open < atOnce && this.#waiting.length > 0) {
      if (!this.#isTime()) return;
      const isCrowded = ++this.#open > 1;
      const { begin } = takeNewest(this.#waiting);
      if (isCrowded) void pause(Math.random() * jitterMs).then(begin);
      else begin();
    }
  }

  /** Takes the next moment, or comes back at it. */
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
