import { setTimeout as pause } from "node:timers/promises";

/** Lets a few connections open at the same time, each a little later than the one before. */
export class OpeningQueue {
  readonly #atOnce: number;
  readonly #jitterMs: number;
  readonly #waiting: (() => void)[] = [];
  #open = 0;

  constructor({ atOnce, jitterMs }: { atOnce: number; jitterMs: number }) {
    this.#atOnce = atOnce;
    this.#jitterMs = jitterMs;
  }

  /** Resolves when it may begin, with what is to be called when it has ended; the second call does nothing. */
  async enter(): Promise<() => void> {
    if (this.#open >= this.#atOnce) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await pause(Math.random() * this.#jitterMs);
    } else this.#open++;
    let isInside = true;
    return () => {
      if (isInside) this.#leave();
      isInside = false;
    };
  }

  /** Whoever waits takes over the place. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#open--;
  }
}
