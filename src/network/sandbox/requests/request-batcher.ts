interface QueuedRequest<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface RequestBatcherOptions<Item, Result> {
  /** Runs all items in one statement; results in the order of the items. */
  run(items: Item[]): Promise<Result[]>;
  max: number;
  /** Whether an item may have caused the error, so that each item runs again separately. */
  retryOneByOne?(error: unknown): boolean;
}

/** Merges requests that arrive during one statement into the next one; adds no delay. */
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
    // Requests of the same turn of the event loop share a statement.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#run(this.#waiting.splice(0, this.#options.max));
    this.#running = false;
  }

  async #run(batch: QueuedRequest<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map((one) => one.item));
      for (const [i, one] of batch.entries()) one.resolve(results[i] as Result);
    } catch (error) {
      if (batch.length > 1 && this.#options.retryOneByOne?.(error)) {
        for (const one of batch) await this.#run([one]);
      } else {
        for (const one of batch) one.reject(error);
      }
    }
  }
}
