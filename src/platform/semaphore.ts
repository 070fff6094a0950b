interface QueuedWaiter {
  weight: number;
  start(): void;
}

/** Bounds what goes on at once: first come, first served; what is heavier than the limit goes alone. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting: QueuedWaiter[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Does the work once there is room for its weight, which is held until it ends. */
  async use<T>(weight: number, work: () => Promise<T>): Promise<T> {
    const held = Math.min(weight, this.#limit);
    await this.#enter(held);
    try {
      return await work();
    } finally {
      this.#used -= held;
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
