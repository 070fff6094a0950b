interface Waiting {
  bytes: number;
  start(): void;
}

/** Bounds what is held in memory at once, first come, first served; what is larger than the limit goes alone. */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Does the work once there is room for so many bytes, which are held until it ends. */
  async use<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const held = Math.min(bytes, this.#limit);
    await this.#enter(held);
    try {
      return await work();
    } finally {
      this.#used -= held;
      this.#startNext();
    }
  }

  #enter(bytes: number): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push({ bytes, start });
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (this.#used + next.bytes > this.#limit) return;
      this.#used += next.bytes;
      this.#waiting.shift();
      next.start();
    }
  }
}
