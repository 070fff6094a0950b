export interface FairQueueOptions {
  /** Limit for all owners together. */
  atOnce: number;
  /** Limit per owner, so that one owner's slow work leaves slots to others. */
  atOncePerOwner: number;
}

interface Waiting {
  owner: number;
  start(): void;
}

/** Limits concurrent work in total and per owner. The owner with the least running work goes first. */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #running = new Map<number, number>();
  readonly #waiting: Waiting[] = [];
  #total = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Runs the work once a slot is free. Rejects if the signal aborts during the wait. */
  async use<T>(owner: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    await this.#enter(owner, signal);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  #enter(owner: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const start = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const waiting = { owner, start };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(waiting);
      this.#startNext();
    });
  }

  #leave(owner: number): void {
    const left = this.#countOf(owner) - 1;
    if (left === 0) this.#running.delete(owner);
    else this.#running.set(owner, left);
    this.#total -= 1;
    this.#startNext();
  }

  #startNext(): void {
    while (this.#total < this.#options.atOnce) {
      const next = this.#findNext();
      if (!next) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#running.set(next.owner, this.#countOf(next.owner) + 1);
      this.#total += 1;
      next.start();
    }
  }

  #findNext(): Waiting | undefined {
    let next: Waiting | undefined;
    let least = this.#options.atOncePerOwner;
    for (const waiting of this.#waiting) {
      const count = this.#countOf(waiting.owner);
      if (count >= least) continue;
      next = waiting;
      least = count;
    }
    return next;
  }

  #countOf(owner: number): number {
    return this.#running.get(owner) ?? 0;
  }
}
