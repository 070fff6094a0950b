interface QueuedWaiter {
  weight: number;
  start(): void;
}

/** Limits concurrent work, in order of arrival; work heavier than the limit runs alone. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: QueuedWaiter[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs the work once its weight is available, and frees the weight when it ends. */
  async use<T>(weight: number, work: () => Promise<T>): Promise<T> {
    const acquired = Math.min(weight, this.#limit);
    await this.#enter(acquired);
    try {
      return await work();
    } finally {
      this.#used -= acquired;
      this.#startNext();
    }
  }

  #enter(weight: number): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push({ weight, start });
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (this.#used + next.weight > this.#limit) return;
      this.#used += next.weight;
      this.#waiting.shift();
      next.start();
    }
  }
}
