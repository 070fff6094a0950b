/** Runs tasks of the same key sequentially. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    let free = () => {};
    const tail = new Promise<void>((resolve) => {
      free = resolve;
    });
    this.#tails.set(key, tail);
    await before;
    try {
      return await work();
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      free();
    }
  }
}
