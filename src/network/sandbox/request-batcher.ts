interface QueuedRequest<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface RequestBatcherOptions<Item, Result> {
  /** Does all items in one statement; results in the order of the items. */
  run(items: Item[]): Promise<Result[]>;
  max: number;
  /** Whether an item can be at fault, so that each is run again by itself. */
  isolate?(error: unknown): boolean;
}

/** Merges what is asked while one statement is under way into the next one; no delay is added. */
export class RequestBatcher<Item, Result> {
  readonly #options: RequestBatcherOptions<Item, Result>;
  #waiting: QueuedRequest<Item, Result>[] = [];
  #running = false;

  constructor(options: RequestBatcherOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#running = true;
    // What is asked in the same turn of the event loop belongs together.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#run(this.#waiting.splice(0, this.#options.max));
    this.#running = false;
  }

  async #run(batch: QueuedRequest<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map((one) => one.item));
      for (const [i, one] of batch.entries()) one.resolve(results[i] as Result);
    } catch (error) {
      if (batch.length > 1 && this.#options.isolate?.(error)) {
        for (const one of batch) await this.#run([one]);
      } else {
        for (const one of batch) one.reject(error);
      }
    }
  }
}
